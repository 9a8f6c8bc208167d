import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../support/processes/run-command.ts'
import { motoEnvironment, startMoto } from '../emulators/moto.ts'
import { deployStack } from './deploy-stack.ts'

/**
 * Deploys the stack to moto, and tests the CLI and every function on it. Last, a proof takes it over and destroys it.
 * @param motoServer the command `moto_server`
 */
export async function testStack(motoServer: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-stack-'))
  const moto = await startMoto(motoServer)
  try {
    const environment = motoEnvironment(moto)
    await deployStack(folder, environment)
    const config = ['--config', 'test/aws/stack/vitest.config.ts']
    for (const tests of ['test/aws/stack', 'test/aws/proof'])
      await runCommand('npx', ['vitest', 'run', ...config, tests], { ...environment, STACK_FOLDER: folder })
  } finally {
    await moto.stop()
    rmSync(folder, { recursive: true })
  }
}
