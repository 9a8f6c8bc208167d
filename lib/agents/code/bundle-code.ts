import { dirname, join, resolve } from 'node:path'
import { build, type Message, stop } from 'esbuild'
import { type Position, START } from '../document/yaml-file.ts'
import { findSizeProblem, NO_DEFAULT_EXPORT, toSourceMapComment } from './check-code.ts'

/** Lets bundled CommonJS dependencies require Node.js built-ins from an ES module. */
const BANNER = `import { createRequire as aesCreateRequire } from 'node:module'; const require = aesCreateRequire(import.meta.url);`

export type CodeProblem = { file: string; message: string } & Position

/** `sources`: the paths of all bundled files. */
export type BundledCode = { code: string; sources: string[]; problems: CodeProblem[] }

/** Bundles the module of a code agent with its dependencies into one ES module, which is stored with the version. */
export async function bundleCode(entry: string): Promise<BundledCode> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The default is the working directory at the time when esbuild was loaded.
    absWorkingDir: process.cwd(),
    // Not written. Paths in the source map are relative to the agent's folder, and the same on every machine.
    outfile: join(dirname(entry), 'agent.mjs'),
    sourcemap: 'external',
    sourcesContent: false,
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

  const textOf = (suffix: string) => result.outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? ''
  const code = textOf('.mjs')
  const exports = Object.values(result.metafile.outputs).flatMap((output) => output.exports)
  const messages = [exports.includes('default') ? null : NO_DEFAULT_EXPORT, findSizeProblem(code)]
  const problems = messages.flatMap((message) => (message ? { file: entry, ...START, message } : []))
  const sources = Object.keys(result.metafile.inputs).map((path) => resolve(path))
  const map = Buffer.from(textOf('.map')).toString('base64')
  return { code: code + toSourceMapComment(map), sources, problems }
}

/** Stops the esbuild process, which would run, and use memory, as long as this one. The next build restarts it. */
export const stopBundler = (): Promise<void> => stop()

/** esbuild counts columns from 0. */
function toProblem({ location, text }: Message, entry: string): CodeProblem {
  const position = location ? { line: location.line, column: location.column + 1 } : START
  return { file: location?.file ?? entry, ...position, message: explainUnresolved(text) ?? text }
}

/** What to do about an import that cannot be resolved; undefined for other errors of esbuild. */
function explainUnresolved(text: string): string | undefined {
  const [, name] = /^Could not resolve "(.+)"$/.exec(text) ?? []
  if (name === undefined) return undefined
  if (/^[./]/.test(name))
    return `cannot find the file "${name}": correct the import, relative to this file and with its extension`
  if (name.startsWith('node:')) return `"${name}" is not a module of Node.js`
  const [first = '', second] = name.split('/')
  const packageName = first.startsWith('@') && second !== undefined ? `${first}/${second}` : first
  return `cannot find the package "${packageName}": correct the import, or install it with npm install ${packageName}`
}
