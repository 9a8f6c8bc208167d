import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { hashToken } from '../../lib/access/tokens.ts'
import { tokenStore } from '../../lib/dynamodb/access-stores.ts'
import { createDataFolder } from '../../local/data-folder.ts'
import { startEmbeddedDynamoDB } from '../../local/emulators/start-emulators.ts'
import { createToken } from '../support/engine/access.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { childrenOf, isAlive, isLoopback, listeningSockets } from '../support/processes/processes.ts'
import { createClient, createLocalClient, readDevToken, waitForExecution } from '../support/service/client.ts'
import { startDynalite, startSqs } from '../support/service/port-emulators.ts'
import { type Service, startService } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const run = promisify(execFile)
const { newFolder, start } = temporaryServices()
const WAIT = '/v1/agents/wait/executions'
const NOW = { body: { seconds: 0 } }
const isLinux = process.platform === 'linux'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const runnersOf = ({ pid }: Service) => childrenOf(pid, 'runner.ts')
const databasesOf = ({ pid }: Service) => childrenOf(pid, 'dynoxide')

async function runQueued({ url }: Service, folder: string): Promise<void> {
  const call = createLocalClient(url, folder)
  const { json } = await call('POST', `${WAIT}?execMode=async`, NOW)
  expect(await waitForExecution(call, json.id)).toMatchObject({ status: 'SUCCESS' })
}

/** No other socket of the service or its runner listens on a port. Reads the sockets from /proc. */
function expectOnlyGateway({ pid, url }: Service, isLocal: boolean): void {
  if (!isLinux) return
  const sockets = listeningSockets(pid)
  expect(sockets.map(({ port }) => port)).toEqual([Number(new URL(url).port)])
  expect(sockets.map(({ address }) => isLoopback(address))).toEqual([isLocal])
}

describe('npm start', () => {
  const folder = newFolder()
  let service: Service
  let path: string
  beforeAll(async () => {
    chmodSync(folder, 0o755)
    // SQS may deliver a message to the long poll of a dead runner; it becomes visible again after the lease.
    service = await start(folder, { HOST: '127.0.0.1', LEASE_SECONDS: '3' })
  })

  it('prints a curl command that works when pasted', async () => {
    const line = service.output().match(/^curl .*$/m)?.[0] ?? ''
    const { stdout } = await run('sh', ['-c', line])
    expect(JSON.parse(stdout).redactedContent).toBe('Write to [EMAIL_ADDRESS] or call [PHONE_NUMBER].')
    // The level is WARN unless POWERTOOLS_LOG_LEVEL is set.
    expect(service.output()).not.toContain('"level":"INFO"')
  })

  it('starts its runner right after it is ready, and no other one', async () => {
    await vi.waitUntil(async () => (await runnersOf(service)).length > 0)
    const call = createLocalClient(service.url, folder)
    const { headers } = await call('POST', WAIT, NOW)
    path = headers.get('location') ?? ''
    await runQueued(service, folder)
    expect(await runnersOf(service)).toHaveLength(1)
    expectOnlyGateway(service, true)
  })

  it('has its data in a folder that only its owner can open, also one of an earlier start', () => {
    const files = ['', 'store.lock', 'dev-token'].map((name) => modeOf(join(folder, name)))
    expect(files).toEqual(['700', '600', '600'])
  })

  it.each(['DynamoDB_20120810.Scan', 'AmazonSQS.ListQueues'])(
    'does not show its data to a page that forges the request %s',
    async (target) => {
      const { hostname, port, host } = new URL(service.url)
      for (const Host of [host, 'evil.example']) {
        const Authorization = 'AWS4-HMAC-SHA256 Credential=local/20261123/local/dynamodb/aws4_request'
        const forged = { Host, Origin: 'https://evil.example', Authorization, 'X-Amz-Target': target }
        const sent = request({ hostname, port, method: 'POST', path: '/', headers: forged })
        sent.end(JSON.stringify({ TableName: 'agent-execution-service' }))
        const [response] = await once(sent, 'response')
        expect(response.statusCode).toBeOneOf([401, 403, 404, 405])
        expect(response.headers).not.toHaveProperty('access-control-allow-origin')
        expect(JSON.parse(await readText(response))).toMatchObject({ code: expect.any(String) })
      }
    },
  )

  it('is the only one on its data folder', async () => {
    await expect(startService({ dataDir: folder })).rejects.toThrow(/already runs on/)
    expect((await createLocalClient(service.url, folder)('GET', '/v1/agents')).status).toBe(200)
  })

  it('restarts its runner when it is killed, and resumes the run that was in progress', async () => {
    const call = createLocalClient(service.url, folder)
    const { json } = await call('POST', `${WAIT}?execMode=async`, { body: { seconds: 2 } })
    const read = async () => (await call('GET', `/v1/agent_executions/${json.id}`)).json
    await vi.waitUntil(async () => (await read()).startedAt !== null)
    const [runner = 0] = await runnersOf(service)
    process.kill(runner, 'SIGKILL')
    await vi.waitUntil(async () => (await runnersOf(service)).some((pid) => pid !== runner))
    expect(await waitForExecution(call, json.id, 60_000)).toMatchObject({ status: 'SUCCESS' })
  })

  it('restarts its database when it is killed, which has what it had', async () => {
    const call = createLocalClient(service.url, folder)
    const before = await call('GET', path)
    const [database = 0] = await databasesOf(service)
    process.kill(database, 'SIGKILL')
    await vi.waitUntil(async () => (await databasesOf(service)).some((pid) => pid !== database))
    expect((await call('GET', path)).text).toBe(before.text)
    await runQueued(service, folder)
  })

  it('leaves no child process running when it is killed, and keeps and continues what it has', async () => {
    const token = readDevToken(folder)
    const call = createClient(service.url, token)
    const [before, agents] = [await call('GET', path), await call('GET', '/v1/agents')]
    const databases = await databasesOf(service)
    const cut = call('POST', WAIT, { body: { seconds: 3 } }).catch(() => 'cut')
    const listOpen = async () => (await call('GET', '/v1/agent_executions?status=IN_PROGRESS')).json
    await vi.waitUntil(async () => (await listOpen()).length > 0)
    const [open] = await listOpen()
    const children = [...(await runnersOf(service)), ...databases]
    expect(children.length).toBeGreaterThan(1)
    await service.kill()
    expect(await cut).toBe('cut')
    await vi.waitUntil(() => !children.some(isAlive))

    service = await start(folder, { LEASE_SECONDS: '3' })
    expect(readDevToken(folder)).toBe(token)
    const again = createClient(service.url, token)
    expect((await again('GET', path)).text).toBe(before.text)
    expect((await again('GET', '/v1/agents')).text).toBe(agents.text)
    expect((await again('GET', '/v1/agents/wait/versions')).json).toHaveLength(1)
    // The sweeper finds the run whose process is gone.
    expect(await waitForExecution(again, open.id, 60_000)).toMatchObject({ status: 'SUCCESS' })
  })

  it('prints no warnings of its libraries, and says only that it stops when nothing is in progress', async () => {
    expect(await service.stop()).toBe(0)
    expect(service.stdout()).toMatch(/^Stopping\.$/m)
    expect(service.output()).toContain('Try it:')
    expect(service.output()).not.toMatch(/warn/i)
  })
})

describe('npm start with settings', () => {
  it('uses HOST, DEV_TOKEN and POWERTOOLS_LOG_LEVEL, and removes temporary folders of a killed service', async () => {
    const [TMPDIR, folder] = [newFolder(), newFolder()]
    const folders = () => readdirSync(TMPDIR).filter((name) => name.startsWith('aes-'))
    const environment = { TMPDIR, HOST: '0.0.0.0', DEV_TOKEN: 'my-own-token', POWERTOOLS_LOG_LEVEL: 'info' }
    const first = await start(folder, environment)
    expect((await createClient(first.url, 'my-own-token')('GET', '/v1/agents')).status).toBe(200)
    expect(first.output()).toMatch(/"level":"INFO","message":"request completed"/)
    expect(first.output()).toMatch(/^warning: DEV_TOKEN can be guessed/m)
    expectOnlyGateway(first, false)
    const stale = folders()
    expect(stale).not.toEqual([])
    await first.kill()
    const dataDir = newFolder()
    const second = await start(dataDir, { TMPDIR })
    await expect.poll(folders).not.toEqual(expect.arrayContaining(stale.slice(0, 1)))
    expect(folders()).not.toEqual([])
    rmSync(dataDir, { recursive: true })
    expect(await second.stop()).toBe(1)
    expect(second.output()).toMatch(/Could not stop cleanly: ENOENT.*store\.lock/)
  })

  it('uses the emulators of DYNAMODB_ENDPOINT and SQS_ENDPOINT in place of its own', async () => {
    const [queue, folder] = [await startSqs(), newFolder()]
    const environment = { DYNAMODB_ENDPOINT: inject('dynalite'), SQS_ENDPOINT: queue.endpoint }
    const service = await start(folder, environment)
    await runQueued(service, folder)
    const files = ['dev-token', 'model-settings.json', 'published.json', 'service-url', 'webhook-secret']
    expect(readdirSync(folder).sort()).toEqual(files)
    await service.stop()
    await queue.stop()
  })
})

describe('npm start fails', () => {
  it('with all invalid variables in one message', async () => {
    const environment = { PORT: 'http', MAX_WAIT_DAYS: '366', DEFAULT_MODEL: 'gpt-5', DEV_TOKEN: 'a b' }
    const dataDir = join(newFolder(), 'new')
    const starting = startService({ dataDir, environment })
    const { message }: Error = await starting.then(() => expect.fail('It started.')).catch((error) => error)
    const [, output = ''] = message.split('Output:\n')
    expect(output.trim().split('\n').sort()).toEqual([
      expect.stringMatching(/^DEFAULT_MODEL: The model name "gpt-5" has no known provider\./),
      expect.stringMatching(/^DEV_TOKEN may contain only/),
      'MAX_WAIT_DAYS is "366"; it must be an integer from 1 to 365.',
      'PORT is "http"; it must be an integer between 0 and 65535 (0 selects any free port).',
    ])
  })

  it('with a port that is in use, before it creates or opens anything', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    const { port } = blocker.address() as { port: number }
    const [existing, missing] = [newFolder(), join(newFolder(), 'new')]
    const env = { ...process.env, NODE_COMPILE_CACHE: '', DATA_DIR: missing, PORT: String(port) }
    const begin = (dataDir: string) => startService({ dataDir, environment: { PORT: String(port) } })
    const npmStart = () => run(process.execPath, ['local/start.mjs'], { env })
    for (const start of [() => begin(existing), () => begin(missing), npmStart])
      await expect(start()).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use. Set PORT to another port.`)
    expect([readdirSync(existing), existsSync(missing)]).toEqual([[], false])
    blocker.close()
  })

  it('with a DEV_TOKEN that was revoked', async () => {
    const token = await createToken(sharedTable(), (await newOrganization()).id)
    await tokenStore(sharedTable()).revoke({ hash: hashToken(token), revokedAt: new Date().toISOString() })
    const environment = { DEV_TOKEN: token, DYNAMODB_ENDPOINT: inject('dynamodb') }
    await expect(startService({ dataDir: newFolder(), environment })).rejects.toThrow(/DEV_TOKEN is revoked/)
  })

  it.each(['DYNAMODB_ENDPOINT', 'SQS_ENDPOINT'])('with nothing at %s', async (name) => {
    const environment = { DYNAMODB_ENDPOINT: inject('dynamodb'), [name]: 'http://127.0.0.1:1' }
    await expect(startService({ dataDir: newFolder(), environment })).rejects.toThrow(
      new RegExp(`responds at http://127.0.0.1:1 \\(${name}\\)`),
    )
  })

  it('with a data folder that cannot be written, and names the cause', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    const message = new RegExp(`Cannot write the data folder ${file}/data \\(DATA_DIR\\): ENOTDIR`)
    await expect(startService({ dataDir: join(file, 'data') })).rejects.toThrow(message)
    // Neither Node's recursive mkdir nor its compile cache returns in /proc.
    const env = { DATA_DIR: '/proc/none/data', PORT: '0', NODE_COMPILE_CACHE: '' }
    if (isLinux)
      await expect(run(process.execPath, ['local/start.mjs'], { env, timeout: 30_000 })).rejects.toThrow(
        'Cannot write the data folder /proc/none/data (DATA_DIR): ENOENT',
      )
  })

  it.each([
    ['local/start.mjs', 'npm start'],
    ['cli/main.mjs', 'npx agent-execution'],
  ])('with a Node.js that cannot run TypeScript, and says what to do: %s', async (file, command) => {
    const started = run(process.execPath, ['--no-experimental-strip-types', file])
    await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(command) })
    await expect(started).rejects.toMatchObject({ stderr: expect.not.stringMatching(/^\s+at /m) })
  })

  it('with a corrupt database, and names its folder', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'dynalite'))
    writeFileSync(join(folder, 'dynalite', 'CURRENT'), 'not a manifest')
    await expect(startDynalite(folder)).rejects.toThrow(/Cannot open the database \S+\/dynalite: Corruption/)
    // The binary of dynoxide is installed on linux-x64 only; elsewhere the service uses dynalite.
    if (!isLinux || process.arch !== 'x64') return
    writeFileSync(join(folder, 'dynoxide.sqlite'), 'not a database')
    await expect(startEmbeddedDynamoDB(folder)).rejects.toThrow(
      /Cannot open the database \S+\/dynoxide\.sqlite: .*not a valid SQLite database/,
    )
  })
})

describe('the data folder', () => {
  it('keeps its mode if it has files of others', async () => {
    const shared = newFolder()
    writeFileSync(join(shared, 'file'), '')
    chmodSync(shared, 0o755)
    await createDataFolder(shared)
    expect(modeOf(shared)).toBe('755')
  })
})
