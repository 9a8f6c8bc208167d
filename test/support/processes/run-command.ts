import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Runs a program in the project's folder and shows its output. @throws an Error when its exit code is not 0 */
export async function runCommand(
  command: string,
  args: string[],
  environment: Record<string, string> = {},
): Promise<void> {
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit' })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} exited with ${signal ?? `code ${code}`}.`)
}
