import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { Client } from '../../../clients/typescript/src/index.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed } from '../../support/data/seed.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { hasPython, installPython } from '../../support/processes/python-environment.ts'
import { delay, type Fault, inject } from '../../support/proxy/faults.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'
import { createLocalClient, readDevToken } from '../../support/service/client.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'
import { superviseService } from '../faults/processes/supervised-service.ts'

const RUNS = 300
const IN_FLIGHT = 20
const KILLS = 5
/** Each request to the agent and each callback has a fault with this chance. */
const RATE = 0.3
const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const SOURCE = fileURLToPath(new URL('../../../clients/python/src', import.meta.url))

const services = temporaryServices()
const unavailable: Fault = async () => ({ status: 503, headers: {}, body: Buffer.from('Injected fault.') })

/** A proxy that drops, delays, cuts and answers 503. */
async function faultyProxy(target: string, name: string) {
  const random = seededRandom(readSeed(), name)
  const faults: Fault[] = ['drop', 'cut', delay(300), unavailable]
  const proxy = await startProxy(
    target,
    inject(() => (random.next() < RATE ? random.pick(faults as [Fault, ...Fault[]]) : null)),
  )
  onTestFinished(() => proxy.stop())
  return proxy
}

/** uvicorn with the agent of `remote_campaign.py`, which is started again whenever it is killed. */
async function superviseAgent(port: number, env: Record<string, string>) {
  const commandOf = await installPython(new URL('requirements.txt', import.meta.url))
  const args = ['remote_campaign:app', '--port', String(port), '--log-level', 'critical']
  const isUp = () => fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false)
  let child: ChildProcess
  const start = async () => {
    child = spawn(commandOf('uvicorn'), args, {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: SOURCE, ...env },
      stdio: 'ignore',
    })
    await waitUntil(isUp, { what: 'uvicorn', limitMs: 60_000 })
  }
  const kill = async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  await start()
  return { kill, restart: () => kill().then(start) }
}

it.skipIf(!(await hasPython()))(
  '300 runs of a remote agent end with the right output and one effect each, whatever is dropped, cut or killed',
  async () => {
    const folder = services.newFolder()
    const [port, agentPort] = [await freePort(), await freePort()]
    const callbacks = await faultyProxy(`http://127.0.0.1:${port}`, 'callbacks')
    const requests = await faultyProxy(`http://127.0.0.1:${agentPort}`, 'requests')
    const service = superviseService({
      dataDir: folder,
      environment: {
        PORT: String(port),
        PUBLIC_URL: callbacks.url,
        LEASE_SECONDS: '3',
        RETRY_BACKOFF_MS: '1000',
      },
    })
    onTestFinished(() => service.stop())
    await service.ready()
    const call = createLocalClient(service.url, folder)
    const { secret } = (await call('POST', '/v1/webhooks/default/rotate')).json
    const database = join(folder, 'effects.sqlite')
    const agent = await superviseAgent(agentPort, { DATABASE: database, AGENT_EXECUTION_SECRET: secret })
    const document = `---
title: Campaign
slug: campaign
input: { number: { type: integer, description: Its number. }, isLong: { type: boolean, description: Whether it answers 202. } }
output: { answer: { type: string, description: What happened. } }
remote: { url: "${requests.url}/agent", timeoutSeconds: 60 }
---
`
    const published = await call('POST', '/v1/agents', { body: { document } })
    expect(published.status, published.text).toBe(201)

    const client = new Client({ baseUrl: service.url, token: readDevToken(folder), maxRetries: 30 })
    const outputs: unknown[] = []
    let ended = 0
    let next = 0
    const work = Array.from({ length: IN_FLIGHT }, async () => {
      while (next < RUNS) {
        const number = next++
        outputs[number] = await client.run('campaign', { number, isLong: number % 3 === 0 }).catch(String)
        ended++
      }
    })
    for (let kill = 1; kill <= KILLS; kill++) {
      const due = (RUNS * kill) / (KILLS + 1)
      await waitUntil(() => ended >= due, { what: `${due} runs`, limitMs: 300_000 })
      await agent.restart()
      await service.kill(kill % 2 === 0 ? 'runner' : 'gateway')
      await service.ready()
    }
    await Promise.all(work)
    expect(outputs).toEqual(Array.from({ length: RUNS }, (_, n) => ({ answer: `Effect of ${n}` })))
    const executions: string[] = []
    for await (const { id, status } of client.executions({ agent: 'campaign', limit: 100 })) {
      expect(status).toBe('SUCCESS')
      executions.push(id)
    }
    const query = `import sqlite3, json
print(json.dumps([key for key, in sqlite3.connect(${JSON.stringify(database)}).execute("SELECT key FROM effects")]))`
    const { stdout } = await promisify(execFile)('python3', ['-c', query])
    expect((JSON.parse(stdout) as string[]).toSorted()).toEqual(executions.toSorted())
    expect(executions).toHaveLength(RUNS)
    expect(service.problems).toEqual([])
    expect(service.counts).toMatchObject({ gatewayKills: 3, runnerKills: 2 })
  },
)
