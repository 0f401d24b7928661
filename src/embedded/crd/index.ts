// CustomResourceDefinitions: validation, and the resources that they define.
export { acceptedStatus, isEstablished } from './names.ts';
export { compileJsonPath } from './jsonpath.ts';
export { openApiV3Document } from './openapi.ts';
export { customResources } from './resources.ts';
export { definitionProblems } from './validate.ts';
export { appMeshDefinitions } from './bundled/app-mesh.ts';
export { gatewayApiDefinitions } from './bundled/gateway-api.ts';
export { istioDefinitions } from './bundled/istio.ts';
