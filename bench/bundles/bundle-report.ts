import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Metafile } from 'esbuild'
import { FUNCTION_NAMES, type FunctionName } from '../../infra/functions/function-settings.ts'

/** Sizes in bytes. `atStart`: what a cold start loads, `index.mjs` and the chunks that it imports statically. */
export type BundleReport = {
  name: FunctionName
  index: number
  atStart: number
  atStartGzip: number
  /** Including the chunks that are loaded on demand. */
  all: number
  /** npm packages with code in what a cold start loads, and in the chunks that are loaded on demand. */
  packagesAtStart: string[]
  packagesLater: string[]
}

/** Describes the bundles that `bundleFunctions` wrote to the folder. */
export function reportBundles(folder: string, outputs: Metafile['outputs']): BundleReport[] {
  return FUNCTION_NAMES.map((name) => {
    const entry = Object.keys(outputs).find((path) =>
      outputs[path]?.entryPoint?.endsWith(`functions/${name}.ts`),
    )
    if (!entry) throw new Error(`No bundle of ${name}.`)
    const files = Object.keys(outputs).filter((path) => path.startsWith(`${dirname(entry)}/`))
    const atStart = collectStaticImports(entry, outputs)
    const sum = (paths: string[]) => paths.reduce((total, path) => total + (outputs[path]?.bytes ?? 0), 0)
    return {
      name,
      index: sum([entry]),
      atStart: sum(atStart),
      atStartGzip: atStart
        .map((path) => gzipSync(readFileSync(join(folder, name, basename(path)))).length)
        .reduce((total, bytes) => total + bytes, 0),
      all: sum(files),
      packagesAtStart: packagesIn(atStart, outputs),
      packagesLater: packagesIn(
        files.filter((path) => !atStart.includes(path)),
        outputs,
      ),
    }
  })
}

/** The file and its transitive static imports. */
function collectStaticImports(entry: string, outputs: Metafile['outputs']): string[] {
  const found = new Set([entry])
  for (const path of found) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && imported in outputs) found.add(imported)
    }
  }
  return [...found]
}

function packagesIn(paths: string[], outputs: Metafile['outputs']): string[] {
  const names = paths.flatMap((path) =>
    Object.entries(outputs[path]?.inputs ?? {})
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([input]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1])
      .filter((name) => name !== undefined),
  )
  return [...new Set(names)].sort()
}
