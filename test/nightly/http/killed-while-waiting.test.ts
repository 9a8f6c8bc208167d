import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FINAL_ANSWER } from '../../../lib/core/model.ts'
import { processTree } from '../../support/processes/listening-sockets.ts'
import { isAlive, sendSignal } from '../../support/processes/processes.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, type ApiResponse, createLocalClient } from '../../support/service/client.ts'
import type { Service } from '../../support/service/start-service.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'
import { startEffectServer } from '../../support/waiting/effect-server.ts'

/** Sleeping runs are the last to be started. */
const KINDS = ['approval', 'signal', 'execution', 'sleep'] as const
type Kind = (typeof KINDS)[number]
const RUNS_OF_KIND = 250
/** Runs sleep so many times as long as the start of those of a kind takes: all sleep when the processes are killed. */
const SLEEP_FACTOR = 3
const MIN_SLEEP_SECONDS = 10
/** Requests of the test at the same time. */
const CLIENTS = 16
const MODEL = 'delegating'

const { newFolder, start } = temporaryServices()
let scripted: ScriptedModel
let effects: Awaited<ReturnType<typeof startEffectServer>>
beforeAll(async () => {
  scripted = await startScriptedModel()
  effects = await startEffectServer()
  scripted.script(MODEL, ({ history }) => {
    const [first] = history
    const { marker } = JSON.parse(first?.type === 'text' ? first.text : '{}')
    const result = history.find((item) => item.type === 'result')
    const input = { marker: `${marker}-child`, kind: 'signal', url: effects.url }
    return { calls: [result ? { name: FINAL_ANSWER, input: { marker } } : { name: 'ask_child', input }] }
  })
})
afterAll(async () => {
  await scripted.stop()
  await effects.stop()
})

const codeOf = (version: number) => `
export default async ({ marker, kind, seconds, url }, context) => {
  const count = (name) => context.step(name, async () => {
    await fetch(url + '/' + marker + '/' + name)
    return name
  })
  await count('before')
  let waited = null
  if (kind === 'signal') waited = await context.waitForSignal('go')
  if (kind === 'approval') waited = (await context.waitForApproval('ask', { title: 'May I?' })).decision
  if (kind === 'sleep') await context.sleep('nap', seconds)
  await count('after')
  return { marker, waited: JSON.stringify(waited), version: ${version} }
}`

const DOCUMENT = `---
slug: waiting
title: Waiting
description: Waits.
code: true
input:
  marker: { type: string, description: Identifies the run. }
  kind: { type: string, description: What it waits for. }
  seconds: { type: integer, default: 1, description: How long it sleeps. }
  url: { type: string, description: Where its steps are counted. }
output:
  marker: { type: string, description: The same. }
  waited: { type: string, description: What the wait returned. }
  version: { type: integer, description: The version of the code. }
---
`
const delegating = () => `---
slug: delegating
title: Delegating
description: Calls an agent that waits.
model: ${scripted.modelFor('openai-compatible', MODEL)}
input:
  marker: { type: string, description: Identifies the run. }
output:
  marker: { type: string, description: The same. }
tools:
  - { name: ask_child, agent: waiting }
---
Ask.
`

async function publish(call: ApiClient, version: number): Promise<string> {
  const body = { document: DOCUMENT, code: codeOf(version) }
  const { status, json } = await call('POST', '/v1/agents', { body })
  expect(status, JSON.stringify(json)).toBe(201)
  return json.id
}

type Started = { kind: Kind; marker: string; index: number; seconds: number }
type Run = { kind: Kind; marker: string; id: string; childId: string }

/** Starts a run, and returns it when it is suspended. */
async function startWaiting(call: ApiClient, { kind, marker, index, seconds }: Started): Promise<Run> {
  const slug = kind === 'execution' ? 'delegating' : 'waiting'
  const body = { marker, ...(kind !== 'execution' && { kind, seconds, url: effects.url }) }
  const mode = index % 2 === 0 ? 'sync' : 'async'
  const started = await call('POST', `/v1/agents/${slug}/executions?execMode=${mode}`, { body })
  expect(started.status, started.text).toBe(202)
  let record: ApiResponse['json'] = started.json
  const path = `/v1/agent_executions/${record.id}`
  while (!record.waitingFor && record.status === 'IN_PROGRESS')
    record = (await call('GET', path, { headers: { Prefer: 'wait=20' } })).json
  expect(record.waitingFor, JSON.stringify(record)).toHaveLength(1)
  expect(record.waitingFor[0].kind).toBe(kind)
  return { kind, marker, id: record.id, childId: record.waitingFor[0].id ?? '' }
}

/** Kills the gateway, its runner and the database. */
async function killAll(service: Service): Promise<void> {
  const processes = processTree(service.pid)
  for (const pid of processes) sendSignal(pid, 'SIGKILL')
  await service.kill()
  await waitUntil(() => !processes.some(isAlive), { what: 'the processes to die', limitMs: 10_000 })
}

/** Sends what the run waits for, twice. */
async function answer(call: ApiClient, { kind, id, childId }: Run): Promise<void> {
  const signal = (target: string) =>
    call('POST', `/v1/agent_executions/${target}/signals/go`, {
      body: { to: target },
      headers: { 'Idempotency-Key': target },
    })
  const send = {
    signal: () => signal(id),
    execution: () => signal(childId),
    approval: async () => {
      const { json } = await call('GET', `/v1/agent_executions/${id}`)
      const approval = json.waitingFor?.[0]?.id ?? approvalOf.get(id)
      approvalOf.set(id, approval)
      return call('POST', `/v1/agent_executions/${id}/approvals/${approval}`, {
        body: { decision: 'approve' },
      })
    },
    sleep: async () => null,
  }[kind]
  const first = await send()
  if (first) expect([200, 202], first.text).toContain(first.status)
  // The run may have ended in between.
  const second = await send()
  if (second) expect([200, 202, 409], second.text).toContain(second.status)
}
const approvalOf = new Map<string, string>()

const waitedOf = ({ kind, id }: Run) =>
  ({ signal: JSON.stringify({ to: id }), approval: '"approve"', sleep: 'null', execution: '' })[kind]

it('resumes each of 1,000 suspended runs exactly once, on its version, after SIGKILL', async () => {
  const folder = newFolder()
  const environment = {
    LEASE_SECONDS: '6',
    ...(scripted.environmentFor('openai-compatible') as Record<string, string>),
  }
  const limit = pLimit(CLIENTS)
  const first = await start(folder, environment)
  const call = createLocalClient(first.url, folder)
  const version = await publish(call, 1)
  expect((await call('POST', '/v1/agents', { body: { document: delegating() } })).status).toBe(201)
  const runs: Run[] = []
  let seconds = 0
  for (const kind of KINDS) {
    const startedAt = performance.now()
    const markers = Array.from({ length: RUNS_OF_KIND }, (_, i) => `${kind}-${i}`)
    const startOne = (marker: string, index: number) => startWaiting(call, { kind, marker, index, seconds })
    runs.push(...(await limit.map(markers, startOne)))
    const took = (performance.now() - startedAt) / 1_000
    seconds = Math.ceil(Math.max(seconds, MIN_SLEEP_SECONDS, SLEEP_FACTOR * took))
  }
  await killAll(first)

  const second = await start(folder, environment)
  const again = createLocalClient(second.url, folder)
  const newVersion = await publish(again, 2)
  expect(newVersion).not.toBe(version)
  await limit.map(runs, (run) => answer(again, run))
  const records = await limit.map(runs, async (run) => {
    const path = `/v1/agent_executions/${run.id}`
    const deadline = performance.now() + 120_000
    for (;;) {
      const { json } = await again('GET', path, { headers: { Prefer: 'wait=20' } })
      if (json.status !== 'IN_PROGRESS' || performance.now() > deadline) return { run, record: json }
    }
  })
  const ofCode = (run: Run) => ({ marker: run.marker, waited: waitedOf(run), version: 1 })
  const wrong = records.filter(({ run, record }) => {
    const output = run.kind === 'execution' ? { marker: run.marker } : ofCode(run)
    const isVersion = run.kind === 'execution' || record.versionId === version
    return (
      record.status !== 'SUCCESS' ||
      record.attempts !== 2 ||
      !isVersion ||
      !isDeepStrictEqual(record.output, output)
    )
  })
  expect(wrong.slice(0, 5)).toEqual([])
  expect(records).toHaveLength(RUNS_OF_KIND * KINDS.length)

  const counted = runs.map(({ kind, marker }) => (kind === 'execution' ? `${marker}-child` : marker))
  const expected = counted.flatMap((marker) => [`/${marker}/before`, `/${marker}/after`])
  expect([...effects.counts.keys()].sort()).toEqual(expected.sort())
  expect([...effects.counts].filter(([, count]) => count !== 1)).toEqual([])
  const fresh = await again('POST', '/v1/agents/waiting/executions', {
    body: { marker: 'fresh', kind: 'none', url: effects.url },
  })
  expect(fresh.json.version).toBe(2)
  await second.stop()
}, 400_000)
