// Loaded with `node --import`: resolves the libraries of this package (`offshoot/kube`) to their sources.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    const library = /^offshoot\/([a-z]+)$/.exec(specifier)?.[1];
    if (library === undefined) return next(specifier, context);
    return next(new URL(`../../src/${library}/index.ts`, import.meta.url).href, context);
  },
});
