import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Service, startService } from './start-service.ts'

/** For a test file: services and data folders that are removed at its end. */
export function temporaryServices() {
  const running: Service[] = []
  const folders: string[] = []
  afterAll(async () => {
    for (const service of running) await service.kill()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  return {
    newFolder(): string {
      const folder = mkdtempSync(join(tmpdir(), 'aes-service-'))
      folders.push(folder)
      return folder
    },
    async start(dataDir: string, environment: Record<string, string> = {}): Promise<Service> {
      const service = await startService({ dataDir, environment })
      running.push(service)
      return service
    },
  }
}
