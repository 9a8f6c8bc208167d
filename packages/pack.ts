/**
 * `node packages/pack.ts <folder> <tag>`: packs what a release publishes. The tag is `v` and the version, which all
 * packages have.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './compile.ts'

/** Folders of the packages, by name. */
const FOLDERS = {
  'agent-execution': 'packages/agent-execution',
  'agent-execution-client': 'clients/typescript',
  'agent-execution-service': '.',
}
export type PackageName = keyof typeof FOLDERS
export const PACKAGE_NAMES = Object.keys(FOLDERS) as PackageName[]

/**
 * Packs all packages.
 * @param folder where the tarballs are written
 * @returns their paths
 */
export async function packAll(folder: string): Promise<Record<PackageName, string>> {
  mkdirSync(folder, { recursive: true })
  const packed: Partial<Record<PackageName, string>> = {}
  // One after the other: two of them write the contract.
  for (const name of PACKAGE_NAMES) {
    const args = ['pack', '--silent', '--pack-destination', resolve(folder)]
    const { stdout } = await promisify(execFile)('npm', args, { cwd: join(ROOT, FOLDERS[name]) })
    packed[name] = join(resolve(folder), stdout.trim().split('\n').at(-1) ?? '')
  }
  return packed as Record<PackageName, string>
}

/** @throws an Error that names a package with another version, or that depends on another one */
export function assertVersions(tag: string): void {
  for (const [name, folder] of Object.entries(FOLDERS)) {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
    const { version, dependencies = {} } = manifest
    for (const found of [version, dependencies['agent-execution-service'] ?? version])
      if (`v${found}` !== tag)
        throw new Error(`The tag is ${tag}, and package.json of ${name} has the version ${found}.`)
  }
}

if (import.meta.main) {
  const [folder, tag] = process.argv.slice(2)
  if (!folder || !tag) throw new Error('Usage: node packages/pack.ts <folder> <tag>')
  assertVersions(tag)
  await packAll(folder)
}
