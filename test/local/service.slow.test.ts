import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, it, vi } from 'vitest'
import { hashToken } from '../../lib/access/tokens.ts'
import { tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { system } from '../../lib/system.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { createClient, readDevToken } from '../support/service/client.ts'
import { startService } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { expectOnlyGateway, startRunner } from './only-gateway.ts'

const run = promisify(execFile)
const { newFolder, start } = temporaryServices()

describe('npm start', () => {
  it('keeps agents, tokens and executions across a restart, and does not publish unchanged agents again', async () => {
    const folder = newFolder()
    const first = await start(folder)
    const token = readDevToken(folder)
    const call = createClient(first.url, token)
    const answer = await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })
    const path = answer.headers.get('location') ?? ''
    const before = await call('GET', path)
    const agents = await call('GET', '/v1/agents')
    expect(await first.stop()).toBe(0)

    const second = await start(folder)
    expect(readDevToken(folder)).toBe(token)
    const again = createClient(second.url, token)
    expect((await again('GET', path)).text).toBe(before.text)
    expect((await again('GET', '/v1/agents')).text).toBe(agents.text)
    expect((await again('GET', '/v1/agents/wait/versions')).json).toHaveLength(1)
    expect((await again('GET', '/v1/agent_executions')).json).toHaveLength(1)
    await second.stop()
  })

  it('stops when npm is stopped, and the next start waits for it', async () => {
    const folder = newFolder()
    const npm = spawn('npm', ['start'], {
      env: { ...process.env, NODE_COMPILE_CACHE: '', PORT: '0', DATA_DIR: folder },
      stdio: 'pipe',
    })
    let printed = ''
    npm.stdout.on('data', (chunk) => {
      printed += chunk
    })
    await vi.waitUntil(() => printed.includes('\nready '))
    const exited = once(npm, 'exit')
    npm.kill('SIGTERM')
    await exited
    const next = await start(folder)
    expect(readdirSync(join(folder, 'compile-cache'))).not.toEqual([])
    const url = /^ready (.*)$/m.exec(printed)?.[1] ?? ''
    await expect(fetch(`${url}/v1/healthcheck`)).rejects.toThrow()
    await next.stop()
  })

  it('keeps compiled code also when it is killed', async () => {
    const folder = newFolder()
    const env = { ...process.env, NODE_COMPILE_CACHE: '', PORT: '0', DATA_DIR: folder }
    const service = spawn(process.execPath, ['local/start.mjs'], { env, stdio: 'ignore' })
    // Helpers that exit by themselves write a few files.
    const isKept = () =>
      existsSync(join(folder, 'compile-cache')) &&
      readdirSync(join(folder, 'compile-cache'), { recursive: true }).length > 200
    const exited = once(service, 'exit')
    await vi.waitUntil(isKept, { timeout: 60_000 }).finally(() => service.kill('SIGKILL'))
    await exited
  })

  // Neither Node's recursive mkdir nor its compile cache returns there.
  it.runIf(process.platform === 'linux')('names a data folder that cannot be created', async () => {
    const env = { DATA_DIR: '/proc/none/data', PORT: '0', NODE_COMPILE_CACHE: '' }
    const starting = run(process.execPath, ['local/start.mjs'], { env, timeout: 30_000 })
    await expect(starting).rejects.toThrow('Cannot write the data folder /proc/none/data (DATA_DIR): ENOENT')
  })

  it('deletes the compile cache when it has grown large', async () => {
    const folder = newFolder()
    const cache = join(folder, 'compile-cache')
    const begin = () =>
      run(process.execPath, ['local/start.mjs'], { env: { DATA_DIR: folder, PORT: 'http' } })
    mkdirSync(cache)
    writeFileSync(join(cache, 'kept'), '')
    await expect(begin()).rejects.toThrow(/PORT is "http"/)
    expect(existsSync(join(cache, 'kept'))).toBe(true)
    for (let number = 0; number < 3_000; number++) writeFileSync(join(cache, `${number}.cache`), '')
    await expect(begin()).rejects.toThrow(/PORT is "http"/)
    expect(existsSync(join(cache, 'kept'))).toBe(false)
  })

  it('rejects a DEV_TOKEN that was revoked', async () => {
    const dataDir = newFolder()
    const environment = { DEV_TOKEN: `my-own-${system.newId()}`, DYNAMODB_ENDPOINT: inject('dynamodb') }
    await (await start(dataDir, environment)).stop()
    const tokens = tokenStore(sharedTable())
    const revokedAt = new Date().toISOString()
    expect(await tokens.revoke({ hash: hashToken(environment.DEV_TOKEN), revokedAt })).not.toBeNull()
    await expect(startService({ dataDir, environment })).rejects.toThrow(/DEV_TOKEN is revoked/)
  })

  it('names the port that is in use', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    const { port } = blocker.address() as { port: number }
    await expect(startService({ dataDir: newFolder(), environment: { PORT: String(port) } })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is in use. Set PORT to another port.`,
    )
    blocker.close()
  })

  it('removes the temporary folders of a service that was killed', async () => {
    const TMPDIR = newFolder()
    const folders = () => readdirSync(TMPDIR).filter((name) => name.startsWith('aes-'))
    const first = await start(newFolder(), { TMPDIR })
    const stale = folders()
    expect(stale).not.toEqual([])
    await first.kill()
    const second = await start(newFolder(), { TMPDIR })
    await expect.poll(folders).not.toEqual(expect.arrayContaining(stale.slice(0, 1)))
    expect(folders()).not.toEqual([])
    await second.stop()
  })

  it('stops on SIGTERM when its data folder was deleted', async () => {
    const dataDir = newFolder()
    const service = await start(dataDir)
    rmSync(dataDir, { recursive: true })
    const startedAt = performance.now()
    expect(await service.stop()).toBe(1)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect(service.output()).toMatch(/Could not stop cleanly: ENOENT.*store\.lock/)
  })

  const rejected: [string, Record<string, string>, RegExp][] = [
    [
      'a port that is not a number',
      { PORT: 'http' },
      /PORT is "http"; it must be an integer between 0 and 65535/,
    ],
    ['a token with a space', { DEV_TOKEN: 'a b' }, /DEV_TOKEN may contain only/],
  ]
  it.each(rejected)('rejects %s with one line', async (_, environment, message) => {
    const folder = newFolder()
    const start = startService({ dataDir: folder, environment })
    await expect(start).rejects.toThrow(message)
    await expect(start).rejects.not.toThrow(/at .*\.ts:\d+/)
  })
})

describe('DYNAMODB_ENDPOINT and SQS_ENDPOINT', () => {
  const folder = newFolder()

  it.each(['DYNAMODB_ENDPOINT', 'SQS_ENDPOINT'])('must be reachable at the start: %s', async (name) => {
    const environment = { DYNAMODB_ENDPOINT: inject('dynamodb'), [name]: 'http://127.0.0.1:1' }
    await expect(startService({ dataDir: folder, environment })).rejects.toThrow(
      new RegExp(`responds at http://127.0.0.1:1 \\(${name}\\)`),
    )
  })
})

// Reads the sockets from /proc.
it.runIf(process.platform === 'linux')(
  'HOST 0.0.0.0: nothing but the gateway listens on a port',
  async () => {
    const folder = newFolder()
    const service = await start(folder, { HOST: '0.0.0.0' })
    await startRunner(service, folder)
    expectOnlyGateway(service, false)
    await service.stop()
  },
)
