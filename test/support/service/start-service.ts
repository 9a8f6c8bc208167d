import { type ReadyProcess, startReadyProcess } from '../processes/ready-process.ts'

export type Service = ReadyProcess

/** Starts the local service in a child process on a free port. */
export const startService = (options: {
  dataDir: string
  environment?: Record<string, string>
}): Promise<Service> =>
  startReadyProcess({
    // With the option of `npm start`.
    args: ['--max-semi-space-size=16', 'local/start.ts'],
    environment: { PORT: '0', DATA_DIR: options.dataDir, ...options.environment },
  })
