import { basename } from 'node:path'
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild'

type Outputs = Metafile['outputs']
type Script = { file: OutputFile; output: Outputs[string] }

/**
 * Merges the script of the first view into one file. esbuild makes a chunk for each set of pages that share something:
 * with the pages they become dozens, which a browser loads six at a time. The other scripts import from the merged file
 * what they imported from its chunks. All names stay, so that their hashes still tell contents apart.
 * @param entry the path of the entry's output
 */
export async function mergeFirstView(
  { outputFiles, metafile }: { outputFiles: OutputFile[]; metafile: Metafile },
  entry: string,
  options: BuildOptions,
): Promise<{ outputFiles: OutputFile[]; outputs: Outputs }> {
  const scripts = readScripts(outputFiles, metafile.outputs)
  const main = basename(entry)
  const merged = [...closureOf(main, scripts)]
  const others = [...scripts.keys()].filter((name) => !merged.includes(name))
  const context: Context = { scripts, merged, main }
  const [first, rest] = await Promise.all([
    build({ ...options, ...toEntries([ENTRY], [main]), plugins: [mergedPlugin(context)] }),
    build({ ...options, ...toEntries(others, others), plugins: [otherPlugin(context)] }),
  ])
  const built = new Map(
    [...(first.outputFiles ?? []), ...(rest.outputFiles ?? [])].map((file) => [basename(file.path), file]),
  )
  const outputs = Object.entries(metafile.outputs).flatMap(([path, output]): [string, Outputs[string]][] => {
    const name = basename(path)
    if (!scripts.has(name)) return [[path, output]]
    const file = built.get(name)
    const imports = output.imports.filter(({ kind }) => name !== main || kind !== 'import-statement')
    return file ? [[path, { ...output, imports, bytes: file.contents.length }]] : []
  })
  const kept = outputFiles.filter(({ path }) => !scripts.has(basename(path)))
  return { outputFiles: [...kept, ...built.values()], outputs: Object.fromEntries(outputs) }
}

type Context = { scripts: Map<string, Script>; merged: string[]; main: string }

/** The name of the file that is written for the merged one. */
const ENTRY = 'entry'

function readScripts(files: OutputFile[], outputs: Outputs): Map<string, Script> {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]))
  return new Map(
    files.flatMap((file): [string, Script][] => {
      const name = basename(file.path)
      const output = byName.get(name)
      return name.endsWith('.js') && output ? [[name, { file, output }]] : []
    }),
  )
}

/** A script, and all that it imports statically. */
function closureOf(name: string, scripts: Context['scripts'], found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const { path, kind } of scripts.get(name)?.output.imports ?? [])
    if (kind === 'import-statement') closureOf(basename(path), scripts, found)
  return found
}

/** `in`: names that a plugin resolves. */
const toEntries = (names: string[], files: string[]): BuildOptions => ({
  entryPoints: names.map((name, index) => ({ in: name, out: (files[index] ?? '').replace(/\.js$/, '') })),
  entryNames: '[dir]/[name]',
  splitting: false,
  metafile: false,
})

/** What the merged file calls an export of one of its chunks. */
const aliasOf = ({ merged }: Context, chunk: string, name: string) => `s${merged.indexOf(chunk)}${name}`

const exportsOf = ({ scripts }: Context, chunk: string) => scripts.get(chunk)?.output.exports ?? []

/** Everything of the first view, with the exports of all chunks. What is loaded later stays outside. */
const mergedPlugin = (context: Context): Plugin => ({
  name: 'merged',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, kind }) => {
      const name = basename(path)
      if (kind === 'entry-point' || context.merged.includes(name)) return { path: name, namespace: 'merged' }
      return { path: `./${name}`, external: true }
    })
    onLoad({ filter: /.*/, namespace: 'merged' }, ({ path }) => {
      if (path !== ENTRY) return { contents: context.scripts.get(path)?.file.text ?? '', loader: 'js' }
      const exported = context.merged.map((chunk) => {
        const names = exportsOf(context, chunk).map((name) => `${name} as ${aliasOf(context, chunk, name)}`)
        return `export { ${names.join(', ')} } from './${chunk}'`
      })
      return { contents: [`import './${context.main}'`, ...exported].join('\n'), loader: 'js' }
    })
  },
})

/** A script that is loaded later, which imports from the merged file and from others of its kind. */
const otherPlugin = (context: Context): Plugin => ({
  name: 'others',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, kind, namespace }) => {
      const name = basename(path)
      if (kind === 'entry-point') return { path: name, namespace: 'other' }
      if (namespace === 'other' && context.merged.includes(name)) return { path: name, namespace: 'chunk' }
      return { path: `./${name}`, external: true }
    })
    onLoad({ filter: /.*/, namespace: 'other' }, ({ path }) => ({
      contents: context.scripts.get(path)?.file.text ?? '',
      loader: 'js',
    }))
    onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => {
      const names = exportsOf(context, path).map((name) => `${aliasOf(context, path, name)} as ${name}`)
      return { contents: `export { ${names.join(', ')} } from './${context.main}'`, loader: 'js' }
    })
  },
})
