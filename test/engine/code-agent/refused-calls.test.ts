import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

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

/** The reported call, code that makes it, and its imports. PORT, UDP and FILE are replaced by those of this test. */
type Call = [name: string, code: string, imports?: string]

const HOST = `{ port: PORT, host: '127.0.0.1' }`
const WRITE = `'require("fs").writeFileSync(' + JSON.stringify(FILE) + ', "")'`

const CONNECTING: Call[] = [
  ['net.connect', `settled(connect(PORT, '127.0.0.1'))`, `{ connect } from 'node:net'`],
  ['net.connect', `settled(net.connect(${HOST}))`, `net from 'net'`],
  ['net.createConnection', `settled(net.createConnection(${HOST}))`, `* as net from 'node:net'`],
  ['net.Socket.connect', `settled(new Socket().connect(PORT, '127.0.0.1'))`, `{ Socket } from 'node:net'`],
  ['net.connect', `import('node:net').then(({ connect }) => settled(connect(${HOST})))`],
  [
    'net.connect',
    `settled(createRequire('file:///agent.mjs')('net').connect(${HOST}))`,
    `{ createRequire } from 'node:module'`,
  ],
  ['net.connect', `settled(process.getBuiltinModule('net').connect(${HOST}))`],
  ['tls.connect', `settled(connect(${HOST}))`, `{ connect } from 'node:tls'`],
  ['http.get', `settled(get('http://127.0.0.1:PORT/orders'))`, `{ get } from 'node:http'`],
  ['http.request', `settled(http.request(${HOST}).end())`, `http from 'node:http'`],
  ['net.createConnection', `settled(new http.ClientRequest(${HOST}).end())`, `http from 'node:http'`],
  ['https.request', `settled(request(${HOST}).end())`, `{ request } from 'node:https'`],
  ['http2.connect', `settled(connect('http://127.0.0.1:PORT'))`, `{ connect } from 'node:http2'`],
  ['fetch', `fetch('http://127.0.0.1:PORT/orders')`],
  ['fetch', `fetch(new Request('http://127.0.0.1:PORT/orders'))`],
  ['WebSocket', `settled(listening(new WebSocket('ws://127.0.0.1:PORT')))`],
  ['WebSocket', `settled(listening(new (class extends WebSocket {})('ws://127.0.0.1:PORT')))`],
]

const SENDING: Call[] = [
  [
    'dgram.createSocket',
    `called((done) => createSocket('udp4').send('x', UDP, '127.0.0.1', done))`,
    `{ createSocket } from 'node:dgram'`,
  ],
  [
    'dgram.Socket.send',
    `called((done) => new dgram.Socket('udp4').send('x', UDP, '127.0.0.1', done))`,
    `dgram from 'node:dgram'`,
  ],
]

const children = (names: string) => `{ ${names} } from 'node:child_process'`
const STARTING: Call[] = [
  ['child_process.exec', `called((done) => exec('touch ' + FILE, done))`, children('exec')],
  ['child_process.exec', `util.promisify(exec)('touch ' + FILE)`, children('exec')],
  ['child_process.execFile', `called((done) => execFile('touch', [FILE], done))`, children('execFile')],
  ['child_process.spawn', `settled(children.spawn('touch', [FILE]))`, `children from 'child_process'`],
  [
    'child_process.fork',
    `(fs.writeFileSync(FILE + '.cjs', ${WRITE}), settled(fork(FILE + '.cjs')))`,
    children('fork'),
  ],
  ['child_process.execSync', `execSync('touch ' + FILE)`, children('execSync')],
  ['child_process.execFileSync', `execFileSync('touch', [FILE])`, children('execFileSync')],
  ['child_process.spawnSync', `spawnSync('touch', [FILE])`, children('spawnSync')],
  [
    'child_process.ChildProcess.spawn',
    `((child) => (child.spawn({ file: 'touch', args: ['touch', FILE] }), settled(child)))(new ChildProcess())`,
    children('ChildProcess'),
  ],
  [
    'worker_threads.Worker',
    `settled(new Worker(${WRITE}, { eval: true }))`,
    `{ Worker } from 'node:worker_threads'`,
  ],
]

const OTHER: Call[] = [
  [
    'net.Server.listen',
    `((server) => called((done) => server.listen(0, () => server.close(done))))(createServer())`,
    `{ createServer } from 'node:http'`,
  ],
  [
    'dgram.Socket.bind',
    `((socket) => called((done) => socket.bind(0, () => socket.close(done))))(new Socket('udp4'))`,
    `{ Socket } from 'node:dgram'`,
  ],
  ['dns.lookup', `called((done) => lookup('localhost', done))`, `{ lookup } from 'node:dns'`],
  ['dns.promises.lookup', `lookup('localhost')`, `{ lookup } from 'node:dns/promises'`],
  ['dns.promises.lookup', `dns.promises.lookup('localhost')`, `dns from 'dns'`],
]

/** These need servers that a test does not have. */
const RESOLVING: Call[] = [
  ...['resolve', 'resolve4', 'resolveAny', 'resolveTxt', 'reverse'].flatMap((name): Call[] => [
    [`dns.${name}`, `${name}('127.0.0.1', () => {})`, `{ ${name} } from 'node:dns'`],
    [`dns.promises.${name}`, `${name}('127.0.0.1')`, `{ ${name} } from 'node:dns/promises'`],
  ]),
  ['dns.resolveMx', `new Resolver().resolveMx('localhost', () => {})`, `{ Resolver } from 'node:dns'`],
  ['dns.promises.resolveMx', `new Resolver().resolveMx('x')`, `{ Resolver } from 'node:dns/promises'`],
  ['process.binding', `process.binding('tcp_wrap')`],
]

/** A thread that makes the calls one after the other, and posts what was reported first of each. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { syncBuiltinESMExports } = require('node:module')
  const makeCalls = async () => {
    let first = null
    if (workerData.isolation) {
      const { isolate } = await import(workerData.isolation)
      isolate((error) => { first ??= error.message })
      syncBuiltinESMExports()
    }
    const reported = []
    for (const source of workerData.sources) {
      first = null
      const module = await import('data:text/javascript,' + encodeURIComponent(source))
      await module.default().catch(() => undefined)
      reported.push(first)
    }
    return reported
  }
  makeCalls().then((reported) => parentPort.postMessage(reported))`

/** What code can use: a promise for the end of an emitter, and for a callback. */
const HELPERS = `
  import fs from 'node:fs'
  import util from 'node:util'
  const EVENTS = ['close', 'end', 'error', 'exit', 'response']
  const settled = (emitter) => new Promise((resolve) => EVENTS.forEach((name) => emitter.on(name, resolve)))
  const called = (call) => new Promise(call)
  const listening = (target) => Object.assign(target, { on: target.addEventListener })`

/** Makes the calls in one thread. Returns what it reported, and the effects of all. */
async function make(calls: Call[], isIsolated: boolean) {
  connections = 0
  datagrams = 0
  const { port } = server.address() as AddressInfo
  const files = calls.map((_, index) => join(folder, `${isIsolated}-${index}`))
  const sources = calls.map(([, code, imports], index) => {
    const text = `${imports ? `import ${imports}` : ''}\n${HELPERS}\nexport default async () => ${code}`
    return text
      .replaceAll('PORT', String(port))
      .replaceAll('UDP', String(udp.address().port))
      .replaceAll('FILE', JSON.stringify(files[index]))
  })
  const isolation = new URL('../../../lib/engine/code-agent/thread/isolation.ts', import.meta.url).href
  const worker = new Worker(THREAD, {
    eval: true,
    workerData: { isolation: isIsolated && isolation, sources },
  })
  const [reported] = (await once(worker, 'message')) as [(string | null)[]]
  await worker.terminate()
  return { reported, connections, datagrams, files: files.map((file) => existsSync(file)) }
}

describe('isolate', () => {
  it('reports each call with its name, whatever the agent does with the error, and prevents its effect', async () => {
    const calls = [...CONNECTING, ...SENDING, ...STARTING, ...OTHER, ...RESOLVING]
    const { reported, files, ...counts } = await make(calls, true)
    const names = reported.map((message) => /^The agent called ([^ ,]+)/.exec(message ?? '')?.[1])
    expect(names).toEqual(calls.map(([name]) => name))
    expect(reported[13]).toContain('fetch (http://127.0.0.1:')
    expect({ ...counts, files: files.some(Boolean) }).toEqual({ connections: 0, datagrams: 0, files: false })
  })

  it('is what prevents it: without it, each of them has an effect', async () => {
    expect(await make(CONNECTING, false)).toMatchObject({ connections: CONNECTING.length })
    const { datagrams, files } = await make([...SENDING, ...OTHER, ...STARTING], false)
    const others = SENDING.length + OTHER.length
    expect(datagrams).toBe(SENDING.length)
    expect(files).toEqual([...Array(others).fill(false), ...STARTING.map(() => true)])
  })
})
