import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient, createLocalClient } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const run = promisify(execFile)
const { newFolder, start } = temporaryServices()

describe('a running service', () => {
  const folder = newFolder()
  let service: Service
  beforeAll(async () => {
    service = await start(folder)
  })

  it('prints a curl command that works when pasted', async () => {
    const line = service
      .output()
      .split('\n')
      .find((text) => text.startsWith('curl '))
    const { stdout } = await run('sh', ['-c', line ?? ''])
    const output = JSON.parse(stdout)
    expect(output.redactedContent).toBe('Write to [EMAIL_ADDRESS] or call [PHONE_NUMBER].')
    expect(output.entities.map((entity: { type: string }) => entity.type)).toEqual([
      'EMAIL_ADDRESS',
      'PHONE_NUMBER',
    ])
    // The level is WARN unless POWERTOOLS_LOG_LEVEL is set.
    expect(service.output()).not.toContain('"level":"INFO"')
  })

  it('makes its development token readable by the owner only', () => {
    expect(statSync(join(folder, 'dev-token')).mode & 0o077).toBe(0)
  })

  it('is the only one on its data folder', async () => {
    await expect(startService({ dataDir: folder })).rejects.toThrow(/already runs on/)
    expect((await createLocalClient(service.url, folder)('GET', '/v1/agents')).status).toBe(200)
  })
})

describe('npm start', () => {
  it('accepts the token in DEV_TOKEN, and logs with the level in POWERTOOLS_LOG_LEVEL', async () => {
    const environment = { DEV_TOKEN: 'my-own-token', POWERTOOLS_LOG_LEVEL: 'info' }
    const service = await start(newFolder(), environment)
    expect((await createClient(service.url, 'my-own-token')('GET', '/v1/agents')).status).toBe(200)
    expect(service.output()).toMatch(/"level":"INFO","message":"request completed"/)
    expect(service.output()).toMatch(/^warning: DEV_TOKEN can be guessed/m)
    await service.stop()
  })
})
