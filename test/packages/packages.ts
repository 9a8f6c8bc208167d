import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Folders of the packages, by name. */
const FOLDERS = {
  'agent-execution': 'packages/agent-execution',
  'agent-execution-client': 'clients/typescript',
  'agent-execution-service': '.',
}
export type PackageName = keyof typeof FOLDERS
export const PACKAGE_NAMES = Object.keys(FOLDERS) as PackageName[]

const run = promisify(execFile)

/** Packs all packages, as a release does. @param folder where the tarballs are written */
export async function packAll(folder: string): Promise<Record<PackageName, string>> {
  const packed: Partial<Record<PackageName, string>> = {}
  // One after the other: two of them write the contract.
  for (const name of PACKAGE_NAMES) {
    const args = ['pack', '--silent', '--pack-destination', folder]
    const { stdout } = await run('npm', args, { cwd: join(ROOT, FOLDERS[name]) })
    packed[name] = join(folder, stdout.trim().split('\n').at(-1) ?? '')
  }
  return packed as Record<PackageName, string>
}

/** A new folder of a user, outside of the repository, with a space in its path. */
export function newProject(manifest: object = {}) {
  const parent = mkdtempSync(join(tmpdir(), 'aes-project-'))
  const folder = join(parent, 'my project')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mine', version: '1.0.0', ...manifest }))
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true, maxRetries: 5 }) }
}

/** The environment of a new shell, without what npm and tests have set, in which `node` is this one. */
export function shellWith(node: string = process.execPath): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_(registry|cache)).*|INIT_CWD|NODE_COMPILE_CACHE|DATA_DIR|PORT|\w+_ENDPOINT)$/i.test(
        name,
      ),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.startsWith(ROOT))
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...path].join(delimiter) } as Record<
    string,
    string
  >
}
