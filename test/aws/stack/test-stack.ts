import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../support/processes/run-command.ts'
import { motoEnvironment, startMoto } from '../emulators/moto.ts'
import { deployStack } from './deploy-stack.ts'

/**
 * Deploys the stack to moto, and tests the CLI and every function on it.
 * @param motoServer the command `moto_server`
 */
export async function testStack(motoServer: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-stack-'))
  const moto = await startMoto(motoServer)
  try {
    const environment = motoEnvironment(moto)
    await deployStack(folder, environment)
    const config = ['--config', 'test/aws/stack/vitest.config.ts']
    await runCommand('npx', ['vitest', 'run', ...config], { ...environment, STACK_FOLDER: folder })
  } finally {
    await moto.stop()
    rmSync(folder, { recursive: true })
  }
}
