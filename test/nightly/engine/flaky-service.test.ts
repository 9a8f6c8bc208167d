import { expect, it, onTestFailed, onTestFinished } from 'vitest'
import { Client, type Step } from '../../../clients/typescript/src/index.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed, TEST_SEED } from '../../support/data/seed.ts'
import { aFlakyService } from '../../support/engine/flaky-service.ts'
import { createLocalClient, readDevToken } from '../../support/service/client.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'
import { superviseService } from '../faults/processes/supervised-service.ts'

const FILE = 'test/nightly/engine/flaky-service.test.ts'
const RUNS = 30
const STEPS = 10
const KILLS = 5
const FAILURES = 0.3
/** As many as a step can need, so that every run succeeds: the last backoff is 40 s. */
const RETRIES = 3
/** A call of its own in each run, which never succeeds. */
const DOOMED = { name: 'doomed', retries: 1 }

const DOCUMENT = `---
title: Charges
slug: charges
code: true
input: { run: { type: integer, description: Its number. } }
output: { values: { type: array, items: { type: string }, description: What the calls returned. } }
---
`

const services = temporaryServices()

/** `worker`: drawn whenever the code of a run begins. */
type Call = { worker: string; isOk: boolean }

it(`${RUNS * STEPS} steps call a flaky service while the service is killed ${KILLS} times`, {
  timeout: 600_000,
}, async () => {
  const seed = readSeed()
  onTestFailed(() => console.error(`Repeat it: ${TEST_SEED}=${seed} npx vitest run --mode nightly ${FILE}`))
  const random = seededRandom(seed, 'flaky service')
  // These calls, or the next ones that find a process to kill. Each run makes progress between most of them.
  const part = (RUNS * STEPS) / (KILLS + 1)
  const killingCalls = Array.from(
    { length: KILLS },
    (_, kill) => part * kill + random.between(part / 2, part),
  )
  const calls = new Map<string, Call[]>()
  let made = 0
  let kills = 0
  let isKilling = false
  const flaky = await aFlakyService(async (url) => {
    const [path = '', worker = ''] = url.split('?')
    const earlier = calls.get(path) ?? []
    const failed = earlier.filter(({ isOk }) => !isOk).length
    const isOk = !path.endsWith(DOOMED.name) && (failed === RETRIES || random.next() >= FAILURES)
    calls.set(path, [...earlier, { worker, isOk }])
    if (++made >= (killingCalls[kills] ?? Number.POSITIVE_INFINITY) && !isKilling) {
      isKilling = true
      // The worker dies after the effect, and before it knows of it.
      if (await service.kill(kills % 2 === 0 ? 'runner' : 'gateway')) kills++
      isKilling = false
    }
    return !isOk
  })
  onTestFinished(() => flaky.stop())

  const dataDir = services.newFolder()
  const environment = { PORT: String(await freePort()), RETRY_BACKOFF_MS: '1000' }
  const service = superviseService({ dataDir, environment })
  onTestFinished(() => service.stop())
  await service.ready()
  const code = `export default async ({ run }, { step }) => {
    const worker = crypto.randomUUID()
    const call = (name) => async () => {
      const response = await fetch('${flaky.url}/' + run + '/' + name + '?' + worker, { method: 'POST' })
      if (!response.ok) throw new Error('HTTP ' + response.status)
      return name
    }
    const values = []
    for (let i = 0; i < ${STEPS}; i++)
      values.push(await step('step ' + i, { retries: ${RETRIES}, backoff: 10 }, call('step-' + i)))
    const options = { retries: ${DOOMED.retries}, backoff: 10 }
    await step('doomed', options, call('${DOOMED.name}')).catch(({ message }) => values.push(message))
    return { values }
  }`
  const published = await createLocalClient(service.url, dataDir)('POST', '/v1/agents', {
    body: { document: DOCUMENT, code },
  })
  expect(published.status, published.text).toBe(201)

  const client = new Client({ baseUrl: service.url, token: readDevToken(dataDir), maxRetries: 30 })
  const ended = await Promise.all(
    Array.from({ length: RUNS }, async (_, run) => client.wait(await client.start('charges', { run }))),
  )
  const names = Array.from({ length: STEPS }, (_, step) => `step-${step}`)
  expect(ended.map(({ output }) => output)).toEqual(Array(RUNS).fill({ values: [...names, 'HTTP 503'] }))
  for (const [run, { id, attempts: workers }] of ended.entries()) {
    const steps: Step[] = []
    for await (const step of client.steps(id)) steps.push(step)
    let unrecorded = 0
    let suspensions = 0
    for (const [index, name] of [...names, DOOMED.name].entries()) {
      const all = calls.get(`/${run}/${name}`) ?? []
      const { failedAttempts = [], attempts = 1 } = steps[index] ?? {}
      const note = JSON.stringify({ run, name, workers, all, failedAttempts })
      const lost = all.length - attempts
      unrecorded += lost
      suspensions += failedAttempts.filter(({ retryAt }) => retryAt !== null).length
      expect(all.filter(({ isOk }) => isOk).length, note).toBeLessThanOrEqual(1 + lost)
      expect(failedAttempts.length, note).toBe(name === DOOMED.name ? DOOMED.retries + 1 : attempts - 1)
      // A worker that waited for a backoff would make the next attempt.
      expect(new Set(all.map(({ worker }) => worker)).size, note).toBe(all.length)
    }
    // A call is made again only if its worker died before its result was stored.
    expect(unrecorded).toBeGreaterThanOrEqual(0)
    expect(unrecorded).toBeLessThanOrEqual(workers - 1 - suspensions)
  }
  expect(calls.size).toBe(RUNS * (STEPS + 1))
  expect(service.problems).toEqual([])
  expect(service.counts).toMatchObject({ runnerKills: 3, gatewayKills: 2 })
})
