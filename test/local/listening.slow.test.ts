import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createLocalClient } from '../support/client.ts'
import { isLoopback, listeningSockets } from '../support/listening-sockets.ts'
import { startService } from '../support/service.ts'
import { waitForExecution } from '../support/wait-for-execution.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-listening-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Reads the sockets from /proc.
describe.runIf(process.platform === 'linux')('HOST', () => {
  it.each([
    ['127.0.0.1', []],
    ['0.0.0.0', ['the gateway']],
  ])('%s: only the gateway may listen beyond loopback', async (HOST, expected) => {
    const service = await startService({ dataDir: folder, environment: { HOST } })
    try {
      const call = createLocalClient(service.url, folder)
      const path = '/v1/agents/wait/executions?execMode=async'
      const { json } = await call('POST', path, { body: { seconds: 0 } })
      await waitForExecution(call, json.id)
      const sockets = listeningSockets(service.pid)
      const port = Number(new URL(service.url).port)
      expect(sockets.map((socket) => socket.port)).toContain(port)
      // The gateway, the queue and the database.
      expect(sockets.length).toBeGreaterThanOrEqual(3)
      const exposed = sockets.filter(({ address }) => !isLoopback(address))
      expect(exposed.map((socket) => (socket.port === port ? 'the gateway' : socket))).toEqual(expected)
    } finally {
      await service.stop()
    }
  })
})
