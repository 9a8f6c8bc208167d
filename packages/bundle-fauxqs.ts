import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

/**
 * Bundles the emulator of SQS, which would install 24 MB in 70 packages for servers of S3 and SNS, too.
 * @param folder of the module that imports it; it gets `fauxqs.js` and the licenses of what it contains
 */
export async function bundleFauxqs(folder: string): Promise<void> {
  const { metafile } = await build({
    entryPoints: ['fauxqs'],
    outfile: join(folder, 'fauxqs.js'),
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
  writeFileSync(join(folder, 'fauxqs.LICENSES.txt'), [...packages].map(readLicense).join('\n'))
  const importer = join(folder, 'start-emulators.js')
  writeFileSync(importer, readFileSync(importer, 'utf8').replace("import('fauxqs')", "import('./fauxqs.js')"))
}

function readLicense(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = file ? readFileSync(join(folder, file), 'utf8') : ''
  return `${name} ${version} (${license})\n\n${text}\n`
}
