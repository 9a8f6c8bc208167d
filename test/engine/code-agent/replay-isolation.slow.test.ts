import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anAgent, replayOf, run } from './replays.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-isolation-'))
let connections = 0
let datagrams = 0
const server = createServer((socket) => {
  connections++
  socket.on('error', () => undefined).end()
})
const udp = createSocket('udp4').on('message', () => datagrams++)

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  udp.close()
  rmSync(folder, { recursive: true })
})

const port = () => (server.address() as AddressInfo).port
/** After all connections and datagrams before it: how many there were. */
async function countEffects(): Promise<{ connections: number; datagrams: number }> {
  const client = connect(port(), '127.0.0.1').resume()
  await once(client, 'close')
  const sender = createSocket('udp4')
  const arrives = once(udp, 'message')
  sender.send('end', udp.address().port, '127.0.0.1')
  await arrives
  sender.close()
  const counted = { connections: connections - 1, datagrams: datagrams - 1 }
  connections = 0
  datagrams = 0
  return counted
}

/** `PORT`, `UDP` and `FILE` stand for those of this test. */
const toCode = (text: string, file: string) =>
  text
    .replaceAll('PORT', String(port()))
    .replaceAll('UDP', String(udp.address().port))
    .replaceAll('FILE', JSON.stringify(file))

type Call = { call: string; head?: string; code: string }

/** Resolves once the emitter has ended or failed. */
const SETTLED = `const settled = (emitter) => new Promise((resolve) => {
  for (const event of ['close', 'end', 'error', 'exit', 'response']) emitter.on(event, resolve)
})`

const CONNECTING: Call[] = [
  {
    call: 'net.connect',
    head: `import { connect } from 'node:net'`,
    code: `settled(connect(PORT, '127.0.0.1'))`,
  },
  {
    call: 'net.connect',
    head: `import net from 'net'`,
    code: `settled(net.connect({ port: PORT, host: '127.0.0.1' }))`,
  },
  {
    call: 'net.createConnection',
    head: `import * as net from 'node:net'`,
    code: `settled(net.createConnection({ port: PORT, host: '127.0.0.1' }))`,
  },
  {
    call: 'net.Socket.connect',
    head: `import { Socket } from 'node:net'`,
    code: `settled(new Socket().connect(PORT, '127.0.0.1'))`,
  },
  {
    call: 'net.connect',
    code: `import('node:net').then(({ connect }) => settled(connect(PORT, '127.0.0.1')))`,
  },
  {
    call: 'net.connect',
    head: `import { createRequire } from 'node:module'`,
    code: `settled(createRequire(import.meta.url)('net').connect(PORT, '127.0.0.1'))`,
  },
  {
    call: 'net.connect',
    code: `settled(process.getBuiltinModule('net').connect(PORT, '127.0.0.1'))`,
  },
  {
    call: 'tls.connect',
    head: `import { connect } from 'node:tls'`,
    code: `settled(connect({ port: PORT, host: '127.0.0.1' }))`,
  },
  {
    call: 'http.get',
    head: `import { get } from 'node:http'`,
    code: `settled(get('http://127.0.0.1:PORT/orders'))`,
  },
  {
    call: 'http.request',
    head: `import http from 'node:http'`,
    code: `settled(http.request({ port: PORT, host: '127.0.0.1' }).end())`,
  },
  {
    call: 'net.createConnection',
    head: `import http from 'node:http'`,
    code: `settled(new http.ClientRequest('http://127.0.0.1:PORT').end())`,
  },
  {
    call: 'https.request',
    head: `import { request } from 'node:https'`,
    code: `settled(request({ port: PORT, host: '127.0.0.1' }).end())`,
  },
  {
    call: 'http2.connect',
    head: `import { connect } from 'node:http2'`,
    code: `settled(connect('http://127.0.0.1:PORT'))`,
  },
  { call: 'fetch', code: `fetch('http://127.0.0.1:PORT/orders')` },
  { call: 'fetch', code: `fetch(new Request('http://127.0.0.1:PORT/orders'))` },
  {
    call: 'WebSocket',
    code: `settled(Object.assign(new WebSocket('ws://127.0.0.1:PORT'), {
      on(event, resolve) { this.addEventListener(event, resolve) },
    }))`,
  },
  {
    call: 'WebSocket',
    code: `settled(Object.assign(new (class Socket extends WebSocket {})('ws://127.0.0.1:PORT'), {
      on(event, resolve) { this.addEventListener(event, resolve) },
    }))`,
  },
]

const SENDING: Call[] = [
  {
    call: 'dgram.createSocket',
    head: `import { createSocket } from 'node:dgram'`,
    code: `new Promise((resolve) => createSocket('udp4').send('x', UDP, '127.0.0.1', resolve))`,
  },
  {
    call: 'dgram.Socket.send',
    head: `import dgram from 'node:dgram'`,
    code: `new Promise((resolve) => new dgram.Socket('udp4').send('x', UDP, '127.0.0.1', resolve))`,
  },
]

const STARTING: Call[] = [
  {
    call: 'child_process.exec',
    head: `import { exec } from 'node:child_process'`,
    code: `new Promise((resolve) => exec('touch ' + FILE, resolve))`,
  },
  {
    call: 'child_process.exec',
    head: `import { exec } from 'node:child_process'\nimport { promisify } from 'node:util'`,
    code: `promisify(exec)('touch ' + FILE)`,
  },
  {
    call: 'child_process.execFile',
    head: `import { execFile } from 'child_process'`,
    code: `new Promise((resolve) => execFile('touch', [FILE], resolve))`,
  },
  {
    call: 'child_process.spawn',
    head: `import children from 'node:child_process'`,
    code: `settled(children.spawn('touch', [FILE]))`,
  },
  {
    call: 'child_process.fork',
    head: `import { fork } from 'node:child_process'\nimport { writeFileSync } from 'node:fs'`,
    code: `(writeFileSync(FILE + '.cjs', 'require("fs").writeFileSync(' + JSON.stringify(FILE) + ', "")'),
      settled(fork(FILE + '.cjs')))`,
  },
  {
    call: 'child_process.execSync',
    head: `import { execSync } from 'node:child_process'`,
    code: `execSync('touch ' + FILE)`,
  },
  {
    call: 'child_process.execFileSync',
    head: `import { execFileSync } from 'node:child_process'`,
    code: `execFileSync('touch', [FILE])`,
  },
  {
    call: 'child_process.spawnSync',
    head: `import { spawnSync } from 'node:child_process'`,
    code: `spawnSync('touch', [FILE])`,
  },
  {
    call: 'child_process.ChildProcess.spawn',
    head: `import { ChildProcess } from 'node:child_process'`,
    code: `(() => {
      const child = new ChildProcess()
      child.spawn({ file: 'touch', args: ['touch', FILE] })
      return settled(child)
    })()`,
  },
  {
    call: 'worker_threads.Worker',
    head: `import { Worker } from 'node:worker_threads'`,
    code: `settled(new Worker('require("fs").writeFileSync(' + JSON.stringify(FILE) + ', "")', { eval: true }))`,
  },
]

const OTHER: Call[] = [
  {
    call: 'net.Server.listen',
    head: `import { createServer } from 'node:http'`,
    code: `new Promise((resolve) => {
      const server = createServer().listen(0, '127.0.0.1', () => server.close(resolve))
    })`,
  },
  {
    call: 'dgram.Socket.bind',
    head: `import { Socket } from 'node:dgram'`,
    code: `new Promise((resolve) => {
      const socket = new Socket('udp4').bind(0, '127.0.0.1', () => socket.close(resolve))
    })`,
  },
  {
    call: 'dns.lookup',
    head: `import { lookup } from 'node:dns'`,
    code: `new Promise((resolve) => lookup('localhost', resolve))`,
  },
  {
    call: 'dns.promises.lookup',
    head: `import { lookup } from 'node:dns/promises'`,
    code: `lookup('localhost')`,
  },
  {
    call: 'dns.promises.lookup',
    head: `import dns from 'dns'`,
    code: `dns.promises.lookup('localhost')`,
  },
]

/** Not called with live steps: these need servers that a test does not have. */
const RESOLVING: Call[] = [
  ...['resolve', 'resolve4', 'resolveAny', 'resolveTxt', 'reverse'].flatMap((name): Call[] => [
    {
      call: `dns.${name}`,
      head: `import { ${name} } from 'node:dns'`,
      code: `${name}('127.0.0.1', () => {})`,
    },
    {
      call: `dns.promises.${name}`,
      head: `import { ${name} } from 'node:dns/promises'`,
      code: `${name}('127.0.0.1')`,
    },
  ]),
  {
    call: 'dns.resolveMx',
    head: `import { Resolver } from 'node:dns'`,
    code: `new Resolver().resolveMx('localhost', () => {})`,
  },
  {
    call: 'dns.promises.resolveMx',
    head: `import { Resolver } from 'node:dns/promises'`,
    code: `new Resolver().resolveMx('localhost')`,
  },
  { call: 'process.binding', code: `process.binding('tcp_wrap')` },
]

let files = 0
/** A version that ignores whatever comes of the call, and an original of its agent. */
async function ignoring({ head = '', code }: Call) {
  const file = join(folder, `file-${++files}`)
  const before = await anAgent('return {}')
  const version = await anAgent(`try { await ${toCode(code, file)} } catch {}\nreturn { isDone: true }`, {
    head: `${head}\n${SETTLED}`,
    of: before,
  })
  return { file, version, original: await run(before) }
}

const titled = (calls: Call[]) =>
  calls.map((call) => [`${call.call}: ${call.head ?? call.code}`.replaceAll(/\s+/g, ' '), call] as const)

describe('a replay', () => {
  it.each(titled([...CONNECTING, ...SENDING, ...STARTING, ...OTHER, ...RESOLVING]))(
    'ends as Diverged without an effect, whatever the agent does with the error: %s',
    async (_, call) => {
      const { file, version, original } = await ignoring(call)
      const { status, error } = await run(version, replayOf(original))
      expect({ status, code: error?.code }).toEqual({ status: 'ERROR', code: 'Diverged' })
      expect(error?.message).toContain(`The agent called ${call.call}`)
      expect(await countEffects()).toEqual({ connections: 0, datagrams: 0 })
      expect(existsSync(file)).toBe(false)
    },
  )

  it.each(titled([...CONNECTING, ...SENDING, ...STARTING, ...OTHER]))(
    'with live steps may do everything: %s',
    async (_, call) => {
      const { file, version, original } = await ignoring(call)
      const { status, error } = await run(version, replayOf(original, { steps: 'live' }))
      expect({ status, error }).toEqual({ status: 'SUCCESS', error: null })
      const counted = await countEffects()
      expect(counted.connections > 0).toBe(CONNECTING.includes(call))
      expect(counted.datagrams > 0).toBe(SENDING.includes(call))
      expect(existsSync(file)).toBe(STARTING.includes(call))
    },
  )

  it.each([
    ['while the agent is loaded', 'return {}', `try { await fetch('http://127.0.0.1:PORT') } catch {}`],
    ['that nobody awaits', `fetch('http://127.0.0.1:PORT').catch(() => {}); return {}`],
    [
      'in a promise that is lost',
      `void Promise.resolve().then(() => connect(PORT)).catch(() => {}); return {}`,
    ],
    [
      'in a timer',
      `await new Promise((resolve) => setTimeout(() => {
      try { connect(PORT) } catch { resolve() }
    }, 1)); return {}`,
    ],
    [
      'in an event',
      `const emitter = new EventEmitter().on('order', () => connect(PORT))
      try { emitter.emit('order') } catch {} return {}`,
    ],
    ['before the agent throws', `try { connect(PORT) } catch {} throw new Error('of the agent')`],
    ['before the agent computes for ever', `try { connect(PORT) } catch {} for (;;) {}`],
    [
      'after the agent has restored it',
      `net.connect = original; try { net.connect(PORT) } catch {} return {}`,
    ],
  ])('ends as Diverged by a call %s', async (_, body, head = '') => {
    const imports = `import net, { connect } from 'node:net'
      import { EventEmitter } from 'node:events'
      const original = net.connect`
    const { version, original } = await ignoring({
      call: '',
      head: `${imports}\n${head.replaceAll('PORT', String(port()))}`,
      code: `(async () => { ${body} })()`,
    })
    expect(await run(version, replayOf(original))).toMatchObject({ error: { code: 'Diverged' } })
    expect(await countEffects()).toEqual({ connections: 0, datagrams: 0 })
  })

  it('says where the agent made the call', async () => {
    const { version, original } = await ignoring({ call: '', code: `fetch('https://shop.example/orders')` })
    const { error } = await run(version, replayOf(original))
    expect(error).toMatchObject({
      message: 'The agent called fetch (https://shop.example/orders), which is not available in a replay.',
      at: expect.stringMatching(/\.mjs:\d+:\d+|agent\.ts:\d+/),
    })
  })

  it('may use what has no effect', async () => {
    const body = `
      const { isIP } = await import('node:net')
      const { createHash } = await import('node:crypto')
      const { STATUS_CODES } = await import('node:http')
      const response = new Response('{"a":1}')
      return {
        values: [isIP('::1'), STATUS_CODES[404], WebSocket.OPEN, (await response.json()).a],
        hash: createHash('sha256').update(input.question).digest('hex').length,
      }`
    const version = await anAgent(body)
    const original = await run(version)
    const { output, error } = await run(version, replayOf(original))
    expect(error).toBeNull()
    expect(output).toEqual({ values: [6, 'Not Found', 1, 1], hash: 64 })
  })

  it('leaves the connections of other runs as they are', async () => {
    const { version, original } = await ignoring(CONNECTING[0] as Call)
    const runs = await Promise.all([
      run(version),
      run(version, replayOf(original)),
      run(version),
      run(version, replayOf(original)),
    ])
    expect(runs.map(({ error }) => error?.code ?? null)).toEqual([null, 'Diverged', null, 'Diverged'])
    expect((await countEffects()).connections).toBe(2)
  })
})
