import { runCommand } from '../../support/processes/processes.ts'
import { motoEnvironment, startMoto } from '../emulators/start-server.ts'

/** @param motoServer the command `moto_server` */
export async function runDrill(motoServer: string): Promise<void> {
  const moto = await startMoto(motoServer)
  try {
    await runCommand('npx', ['vitest', 'run', '--config', 'test/aws/restore/vitest.config.ts'], {
      ...motoEnvironment(moto),
      // Nobody has to wait a minute for the end of a lease.
      LEASE_SECONDS: '2',
    })
  } finally {
    await moto.stop()
  }
}
