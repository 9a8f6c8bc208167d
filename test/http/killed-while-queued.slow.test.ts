import pLimit from 'p-limit'
import { expect, it } from 'vitest'
import { processTree } from '../support/processes/listening-sockets.ts'
import { isAlive, sendSignal } from '../support/processes/processes.ts'
import { waitUntil } from '../support/processes/wait-until.ts'
import { type ApiClient, createLocalClient } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const RUNS = 40
const KILLS = 2
const { newFolder, start } = temporaryServices()

const DOCUMENT = `---
slug: queued
title: Queued
description: Takes a moment.
code: true
input:
  number: { type: integer, description: Its place. }
output:
  number: { type: integer, description: The same. }
---
`
const CODE = `export default async ({ number }) => {
  await new Promise((resolve) => setTimeout(resolve, 300))
  return { number }
}`

/** Kills the gateway, its runner and the database. */
async function killAll(service: Service): Promise<void> {
  const processes = processTree(service.pid)
  for (const pid of processes) sendSignal(pid, 'SIGKILL')
  await service.kill()
  await waitUntil(() => !processes.some(isAlive), { what: 'the processes to die', limitMs: 10_000 })
}

/** The record of an execution that has ended, or of one that has not for a long time. */
async function ended(call: ApiClient, id: string) {
  const deadline = performance.now() + 180_000
  for (;;) {
    const path = `/v1/agent_executions/${id}`
    const { json } = await call('GET', path, { headers: { Prefer: 'wait=20' } })
    if (json.status !== 'IN_PROGRESS' || performance.now() > deadline) return json
  }
}

it('runs all that are queued, one after the other, in order and once, after SIGKILL', async () => {
  const folder = newFolder()
  const environment = { LEASE_SECONDS: '6' }
  let service = await start(folder, environment)
  let call = createLocalClient(service.url, folder)
  expect((await call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })).status).toBe(201)
  const limits = { maxOpenExecutions: 1, queueWhenFull: true }
  expect((await call('PUT', '/v1/agents/queued/limits', { body: limits })).status).toBe(200)
  const ids: string[] = []
  const submit = async () => {
    const { status, json, text } = await call('POST', '/v1/agents/queued/executions?execMode=async', {
      body: { number: ids.length },
    })
    expect(status, text).toBe(202)
    ids.push(json.id)
  }
  for (let kill = 0; kill < KILLS; kill++) {
    for (let i = 0; i < RUNS / KILLS; i++) await submit()
    const [, , third] = ids.slice(-RUNS / KILLS)
    await ended(call, third ?? '')
    await killAll(service)
    service = await start(folder, environment)
    call = createLocalClient(service.url, folder)
  }
  const records = await pLimit(8).map(ids, (id) => ended(call, id))
  expect(records.map(({ status, output }) => [status, output?.number])).toEqual(
    ids.map((_, number) => ['SUCCESS', number]),
  )
  const killed = records.filter(({ attempts }) => attempts !== 1)
  expect(killed.length).toBeLessThanOrEqual(KILLS)
  for (const [index, { startedAt }] of records.entries()) {
    const previous = records[index - 1]
    // None begins before the one that was accepted before it has ended.
    if (previous) expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(Date.parse(previous.finishedAt))
  }
  await service.stop()
}, 400_000)
