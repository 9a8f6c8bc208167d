import packageJson from '../../../package.json' with { type: 'json' }
import { type ReadyProcess, startReadyProcess } from '../processes/ready-process.ts'

const OPTIONS = packageJson.scripts.start.split(' ').slice(1, -1)

export type Service = ReadyProcess

/** Starts the local service in a child process on a free port. */
export const startService = (options: {
  dataDir: string
  environment?: Record<string, string>
}): Promise<Service> =>
  startReadyProcess({
    // With the options of `npm start`.
    args: [...OPTIONS, 'local/start.ts'],
    environment: {
      WEBHOOK_HOSTS: '127.0.0.1, localhost',
      PORT: '0',
      DATA_DIR: options.dataDir,
      ...options.environment,
    },
  })
