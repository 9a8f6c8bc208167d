import type { Emulator } from '../../../local/emulators/start-emulators.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { startServer } from './start-server.ts'

/** The account of moto. */
export const ACCOUNT = '123456789012'
export const REGION = 'us-east-1'

/** Starts the AWS emulator with the `moto_server` command of a Python environment. */
export async function startMoto(command: string): Promise<Emulator> {
  const port = String(await freePort())
  return startServer({
    name: 'moto',
    // Moto recognizes the URL of the template in its S3 by this host name.
    endpoint: `http://localhost:${port}`,
    command,
    args: ['-H', '127.0.0.1', '-p', port],
  })
}

/** With which the AWS SDK and the CDK use moto. They ignore profiles and credentials of the user. */
export const motoEnvironment = ({ endpoint }: Emulator): Record<string, string> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: 'moto',
  AWS_SECRET_ACCESS_KEY: 'moto',
})
