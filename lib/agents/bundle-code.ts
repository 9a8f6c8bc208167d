import { resolve } from 'node:path'
import { build, type Message, stop } from 'esbuild'

/** Bytes of a bundled code agent: what a cold function can still load in well under a second. */
const MAX_CODE_BYTES = 3_000_000

/** Lets bundled CommonJS dependencies require Node's built-ins from an ES module. */
const BANNER = `import { createRequire as aesCreateRequire } from 'node:module'; const require = aesCreateRequire(import.meta.url);`

export type CodeProblem = { file: string; line: number; message: string }

/** `sources`: every file that the code is made of. */
export type BundledCode = { code: string; sources: string[]; problems: CodeProblem[] }

/**
 * Bundles a code agent's module with everything that it imports into one ES module, so that a version keeps its code
 * and runs wherever it is read.
 */
export async function bundleCode(entry: string): Promise<BundledCode> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // esbuild would take the folder in which it was loaded.
    absWorkingDir: process.cwd(),
    minify: true,
    keepNames: true,
    legalComments: 'none',
    banner: { js: BANNER },
    logLevel: 'silent',
  }).catch((error: { errors?: Message[] }) => {
    if (!error.errors) throw error
    return { errors: error.errors }
  })
  if (!('outputFiles' in result))
    return { code: '', sources: [], problems: result.errors.map((message) => toProblem(message, entry)) }

  const code = result.outputFiles[0]?.text ?? ''
  const exports = Object.values(result.metafile.outputs)[0]?.exports ?? []
  const problems: CodeProblem[] = []
  if (!exports.includes('default')) {
    problems.push({ file: entry, line: 1, message: 'must default-export a function run(input, context)' })
  }
  if (code.length > MAX_CODE_BYTES) {
    problems.push({
      file: entry,
      line: 1,
      message: `bundles to ${code.length} bytes; ${MAX_CODE_BYTES} are allowed`,
    })
  }
  const sources = Object.keys(result.metafile.inputs).map((path) => resolve(path))
  return { code, sources, problems }
}

/** Ends the process that bundles: it would else live, and take memory, as long as this one. The next bundle starts it again. */
export const stopBundler = (): Promise<void> => stop()

function toProblem({ location, text }: Message, entry: string): CodeProblem {
  return { file: location?.file ?? entry, line: location?.line ?? 1, message: text }
}
