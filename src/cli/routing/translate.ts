// `offshoot routing translate`: reads objects, translates them and prints the result. No cluster is needed.
import { BACKENDS, decodeSnapshot, translate } from '../../routing/index.ts';
import type { BackendName, Diagnostic, Mode, Problem, Snapshot, Translated, Translation } from '../../routing/index.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { dataText, objectData } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';
import { readSources } from './sources.ts';

export interface TranslateFlags {
  readonly filename: readonly string[];
  readonly to: BackendName;
  readonly mode: Mode;
  readonly allowAll: boolean;
  readonly output: DataFormat;
  /** Fail if there is any error, not only if a mesh is rejected. */
  readonly failOnErrors?: boolean;
}

/** What to print: the result, and notes on standard error. */
interface Printed {
  readonly text: string;
  readonly notes: readonly string[];
  /** Why the command fails. */
  readonly error: Problem | undefined;
}

export function translateFiles(flags: TranslateFlags): void {
  const { text, notes, error } = translationOf(flags);
  process.stdout.write(text);
  for (const note of notes) console.error(note);
  if (error !== undefined) throw new CommandFailed(EXIT.error, `${error.code}: ${error.message}`, error.code);
}

/** The translation of files, as printed. */
export function translationOf(flags: TranslateFlags): Printed {
  const { snapshot, diagnostics } = decodeSnapshot(readSources(flags.filename));
  return flags.to === 'appmesh-api'
    ? asResources(snapshot, diagnostics, flags)
    : asObjects(snapshot, diagnostics, flags);
}

/** One value per mesh, with its diagnostics. */
function asResources(snapshot: Snapshot, inputDiagnostics: readonly Diagnostic[], flags: TranslateFlags): Printed {
  const result = translate(snapshot, BACKENDS['appmesh-api'], flags);
  const common = [...inputDiagnostics, ...result.diagnostics];
  const meshes = result.meshes.map((mesh) => {
    const { plan, output, diagnostics } = mesh;
    const error = errorOfMesh(mesh);
    return { meshName: plan.name, ...(error && { error }), ...output, diagnostics: [...common, ...diagnostics] };
  });
  const error = errorOf(result, [...common, ...result.meshes.flatMap((mesh) => mesh.diagnostics)], flags);
  const value = meshes.length === 0 ? { error, diagnostics: common } : meshes.length === 1 ? meshes[0] : meshes;
  return { text: dataText(flags.output, value), notes: [], error };
}

/** A List for kubectl, and the diagnostics as notes. */
function asObjects(snapshot: Snapshot, inputDiagnostics: readonly Diagnostic[], flags: TranslateFlags): Printed {
  const result = translate(snapshot, BACKENDS['appmesh-crd'], flags);
  const diagnostics = [
    ...inputDiagnostics,
    ...result.diagnostics,
    ...result.meshes.flatMap((mesh) => mesh.diagnostics),
  ];
  const error = errorOf(result, diagnostics, flags);
  if (result.meshes.every(({ output }) => output === undefined)) {
    return { text: dataText(flags.output, { error, diagnostics }), notes: [], error };
  }
  const objects = result.meshes.flatMap(({ output = [] }) => output);
  const notes = diagnostics.map(({ severity, object, code, message }) => `${severity}: ${object}: ${code}: ${message}`);
  return { text: dataText(flags.output, objectData(objects, true)), notes, error };
}

/** Why a mesh has no translation: it is rejected, or all of its rules are. */
function errorOfMesh({ error, plan: { rules } }: Translation<unknown>): Problem | undefined {
  if (error !== undefined || rules.some(({ rejected }) => rejected === undefined)) return error;
  return rules[0]?.rejected;
}

/** Why the command fails: the first mesh without a translation or, with --fail-on-errors, the first error. */
function errorOf(
  { error, meshes }: Translated<unknown>,
  diagnostics: readonly Diagnostic[],
  { failOnErrors = false }: TranslateFlags,
): Problem | undefined {
  const ofMesh = error ?? meshes.map(errorOfMesh).find((each) => each !== undefined);
  return ofMesh ?? (failOnErrors ? diagnostics.find(({ severity }) => severity === 'error') : undefined);
}
