import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'esbuild'

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/**
 * Bundles a package that few use or that would install far more than is used, and lets its importer load the bundle.
 * @param importer the compiled module that imports the package on demand; its folder gets `<last part of the name>.js`
 * and the licenses of what it contains
 */
export async function bundleDependency(name: string, importer: string): Promise<void> {
  const folder = dirname(importer)
  const file = basename(name)
  const { metafile } = await build({
    entryPoints: [name],
    outfile: join(folder, `${file}.js`),
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    minify: true,
    metafile: true,
    logLevel: 'warning',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
  writeFileSync(join(folder, `${file}.LICENSES.txt`), [...packages].map(readLicense).join('\n'))
  const [source, call] = [readFileSync(importer, 'utf8'), `import('${name}')`]
  if (!source.includes(call)) throw new Error(`${importer} does not contain ${call}.`)
  writeFileSync(importer, source.replace(call, `import('./${file}.js')`))
}

function readLicense(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = file ? readFileSync(join(folder, file), 'utf8') : ''
  return `${name} ${version} (${license})\n\n${text}\n`
}
