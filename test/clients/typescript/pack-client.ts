import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const PACKAGE = fileURLToPath(new URL('../../../clients/typescript', import.meta.url))

const run = promisify(execFile)

/** A new folder in which the client is installed as its users get it: built, packed and unpacked. */
export async function packClient() {
  const folder = mkdtempSync(join(tmpdir(), 'aes-client-'))
  const installed = join(folder, 'node_modules/agent-execution-client')
  mkdirSync(installed, { recursive: true })
  const args = ['pack', '--json', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: PACKAGE })
  // npm before version 11 also prints the output of the script `prepack`.
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[$/m))) as [
    { filename: string; files: { path: string }[] },
  ]
  await run('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', installed])
  const dependencies = { 'agent-execution-client': '*' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }))
  return {
    folder,
    installed,
    files: packed.files.map(({ path }) => path),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
