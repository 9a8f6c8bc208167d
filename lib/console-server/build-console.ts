import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { type BuildOptions, build, type Metafile, stop } from 'esbuild'
import { ENCODINGS, PAGE } from './console-files.ts'
import { mergeFirstView } from './merge-chunks.ts'
import { renderDocs } from './render-docs.ts'

const SOURCE = fileURLToPath(new URL('../../console', import.meta.url))

type Outputs = Metafile['outputs']

/** Of brotli: 11 compresses the files of a deployment best, 5 takes a tenth of the time. */
type Options = { quality: 5 | 11 }

/**
 * Bundles `console/main.tsx` for browsers and writes the files that `openConsoleFiles` reads: scripts and styles with a
 * hash in their names, the page that refers to them, the documentation, and each of them compressed.
 * @returns the written files as outputs of esbuild's metafile
 */
export async function buildConsole(folder: string, { quality }: Options): Promise<Outputs> {
  const common = {
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  } satisfies BuildOptions
  const split = await build({
    ...common,
    entryPoints: [join(SOURCE, 'main.tsx')],
    splitting: true,
    jsx: 'transform',
    jsxFactory: 'h',
    jsxFragment: 'Fragment',
    inject: [join(SOURCE, 'jsx-factory.ts')],
    // That of the console would choose the automatic runtime.
    tsconfigRaw: {},
    entryNames: '[name]-[hash]',
    chunkNames: 'page-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
  })
  // Apart, so that it shares no chunk with the console.
  const search = await build({
    ...common,
    entryPoints: [{ in: join(SOURCE, 'docs/search.ts'), out: 'docs-search' }],
    entryNames: '[name]-[hash]',
    tsconfigRaw: {},
  })
  const { script } = findEntry(split.metafile.outputs)
  const { outputFiles, outputs } = await mergeFirstView(split, script, common)
  const main = outputFiles.find(({ path }) => basename(path) === basename(script))
  if (main) {
    main.contents = Buffer.from(loadAtOnce(main.text, outputs))
    const output = outputs[script]
    if (output) output.bytes = main.contents.length
  }
  const page = insertNames(await readFile(join(SOURCE, PAGE), 'utf8'), outputs)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const docs = await renderDocs({
    stylesheet: basename(findEntry(outputs).cssBundle ?? ''),
    script: basename(search.outputFiles[0]?.path ?? ''),
  })
  const files = [
    ...outputFiles,
    ...search.outputFiles,
    ...[{ name: PAGE, content: page }, ...docs].map(({ name, content }) => ({
      path: join(folder, name),
      contents: Buffer.from(content),
    })),
  ]
  const written = await Promise.all(files.map(({ path, contents }) => writeFiles(path, contents, quality)))
  // Paths like those of esbuild, which are relative to the working directory.
  const prefix = dirname(script)
  const compressed = written
    .flat()
    .map(({ name, bytes }) => [`${prefix}/${name}`, { bytes, inputs: {}, imports: [], exports: [] }])
  return { ...Object.fromEntries(compressed), ...search.metafile.outputs, ...outputs }
}

/**
 * What a page imports is requested together with its script, not after it: on a slow network, each of them takes as
 * long as the page.
 */
function loadAtOnce(script: string, outputs: Outputs): string {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]))
  const importsOf = (name: string) =>
    byName
      .get(name)
      ?.imports.filter(({ kind }) => kind === 'import-statement')
      .map(({ path }) => basename(path))
      .filter((other) => /^page-\w+\.js$/.test(other) && (byName.get(other)?.bytes ?? 0) > 0) ?? []
  return script.replaceAll(/import\("\.\/(page-\w+\.js)"\)/g, (own, name: string) => {
    const others = [...new Set(importsOf(name))]
    return others.length === 0
      ? own
      : `(${others.map((other) => `import("./${other}").catch(()=>0)`).join()},${own})`
  })
}

/** The page names the sources. */
function insertNames(page: string, outputs: Outputs): string {
  const { script, cssBundle = '' } = findEntry(outputs)
  const urlOf = (path: string) => `console/${basename(path)}`
  return page
    .replace('src="main.js"', `src="${urlOf(script)}"`)
    .replace('href="main.css"', `href="${urlOf(cssBundle)}"`)
}

/** The output of `main.tsx`. */
function findEntry(outputs: Outputs) {
  const entry = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx'))
  if (!entry) throw new Error('esbuild has written no bundle of main.tsx.')
  const [script, output] = entry
  return { ...output, script }
}

/** Writes the file and its compressed forms. More effort makes the base64 of a picture no smaller. */
async function writeFiles(path: string, contents: Uint8Array, quality: number) {
  const effort = path.endsWith('.svg') ? 5 : quality
  const compressed = {
    br: await promisify(brotliCompress)(contents, { params: { [zlib.BROTLI_PARAM_QUALITY]: effort } }),
    gzip: await promisify(gzip)(contents, { level: zlib.Z_BEST_COMPRESSION }),
  }
  const files = [
    [path, contents] as const,
    ...ENCODINGS.map((name) => [`${path}.${name}`, compressed[name]] as const),
  ]
  await Promise.all(files.map(([name, bytes]) => writeFile(name, bytes)))
  return files.map(([name, { length }]) => ({ name: basename(name), bytes: length }))
}

/** Stops the esbuild process, which otherwise runs (and uses memory) as long as this process. */
export const stopBuilder = (): Promise<void> => stop()
