/**
 * Writes what a checkout would deploy into a folder: `functions/`, and `release.json`. A process of its own, because it
 * loads the modules of that checkout: `node write-release.ts <checkout> <folder>`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** `template`: of the stack. `functions`: the function of each operation. */
export type ReleaseFile = { template: object; functions: Record<string, string> }

const [, , checkout = '', folder = ''] = process.argv
const load = (path: string) => import(pathToFileURL(join(checkout, path)).href)

const { bundleFunctions } = await load('infra/functions/bundle.ts')
await bundleFunctions(join(folder, 'functions'))
const { synthesize } = await load('test/infra/synthesize.ts')
const { functionOf, operationNames } = await load('lib/contract/routes.ts')
const release: ReleaseFile = {
  template: synthesize({ httpPublishing: true }).toJSON(),
  functions: Object.fromEntries(operationNames.map((name: string) => [name, functionOf(name)])),
}
writeFileSync(join(folder, 'release.json'), JSON.stringify(release))
