import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Trial, TrialItem } from '../../clients/typescript/src/index.ts'
import type { Gate } from '../../lib/core/trial.ts'
import { anItem, aTrial, TRIAL_ID, TRIED_VERSION } from '../support/a-trial.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { startServer } from '../support/service/start-server.ts'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const CURRENT = '01a2003b-0000-76ff-97ee-7005494d15b8'

type Script = {
  trial?: Trial
  items?: TrialItem[]
  gate?: Gate | null
  /** Instead of 202. */
  refusal?: object
}

/** A service with one agent and one trial, which ends at the second look. */
async function trialService({ trial = aTrial({ SAME: 3 }), items = [], gate = null, refusal }: Script = {}) {
  const requests: { method: string; path: string; body: ReturnType<typeof JSON.parse>; key: unknown }[] = []
  let looks = 0
  const { documentId } = trial
  const agent = { id: documentId, slug: 'triage', currentVersionId: CURRENT, draftVersionId: TRIED_VERSION }
  const answer = (method: string, path: string): [number, unknown] => {
    if (method === 'POST' && path.endsWith('/trials'))
      return refusal ? [422, refusal] : [202, { id: trial.id, status: 'IN_PROGRESS' }]
    if (path.startsWith(`/v1/trials/${trial.id}/items`)) {
      const verdict = new URL(path, 'http://x').searchParams.get('verdict')
      return [200, items.filter((item) => item.verdict === verdict)]
    }
    if (path === `/v1/trials/${trial.id}`)
      return [200, looks++ === 0 ? { ...trial, status: 'IN_PROGRESS', sums: null } : trial]
    if (path.startsWith('/v1/trials')) return [200, [trial]]
    if (path.includes('/versions/')) return [200, { id: CURRENT, execution: gate ? { promotion: gate } : {} }]
    return path.startsWith('/v1/agents/') ? [200, agent] : [404, {}]
  }
  const { url, stop } = await startServer(async (incoming, response) => {
    const { method = '', url: path = '', headers } = incoming
    const body = await text(incoming)
    requests.push({ method, path, body: body && JSON.parse(body), key: headers['idempotency-key'] })
    const [status, json] = answer(method, path)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json))
  })
  onTestFinished(stop)
  const run = (...args: string[]) =>
    cli.run([...args, '--url', url], { environment: { AGENTS_TOKEN: 'aes_test' } })
  return { url, requests, run, started: () => requests.find(({ method }) => method === 'POST') }
}

const DIFFERENCE = { path: '/total', original: 12.5, trial: 13 }

describe('agents trial', () => {
  it('tries the draft, waits, and shows what came out', async () => {
    const trial = aTrial({ SAME: 8, CHANGED: 1, CORRECTED: 1, originalTotal: 1, trialTotal: 0.5 })
    const { run, started, url } = await trialService({
      trial,
      gate: { maxChanged: 1 },
      items: [anItem('CHANGED', [DIFFERENCE, { path: '', trial: '\u001b[31mx' }], { moreDifferences: true })],
    })
    const { code, stdout } = await run('trial', 'triage', '--last', '200', '--max-cost', '2')
    expect(started()).toMatchObject({
      path: `/v1/agents/${trial.documentId}/versions/${TRIED_VERSION}/trials`,
      body: { limit: 200, maxTrialCostUsd: 2 },
      key: expect.any(String),
    })
    expect(code).toBe(0)
    expect(stdout).toContain(`Trial ${TRIAL_ID} of triage, version ${TRIED_VERSION}: 10 executions, $0.42\n`)
    expect(stdout).toMatch(/\nSAME +8\nCHANGED +1\nCORRECTED +1\nREGRESSED +0\nDIVERGED +0\nERROR +0\n/)
    expect(stdout).toMatch(/\ncost +\$0 +\$0 +\$0 +\$0\nrun time +0 ms/)
    expect(stdout).toMatch(
      /\nCHANGED +\S+ → \S+\n {2}\/total: 12\.5 → 13\n {2}\(all\): none → "\S*\[31mx"\n {2}…\n/,
    )
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('The gate of the current version is met.\n')
    expect(stdout).toContain(
      `Promote: npx agent-execution promote triage ${TRIED_VERSION} --trial ${TRIAL_ID} --url ${url}\n`,
    )
  })

  it('exits with 1 if the gate is not met, and lists the gravest first', async () => {
    const { run } = await trialService({
      trial: aTrial({ SAME: 5, CHANGED: 1, REGRESSED: 1, DIVERGED: 1 }),
      gate: { maxRegressed: 0, maxError: 0 },
      items: [
        anItem('CHANGED', [DIFFERENCE]),
        anItem('DIVERGED', [], { error: { code: 'Diverged', message: 'refund was not called.' } }),
        anItem('REGRESSED', [DIFFERENCE]),
      ],
    })
    const { code, stdout } = await run('trial', 'triage', '--models', 'recorded')
    expect(code).toBe(1)
    const listed = stdout.match(/^[A-Z]+(?= {2,}\S+ →)/gm)
    expect(listed).toEqual(['REGRESSED', 'DIVERGED', 'CHANGED'])
    expect(stdout).toContain('  Diverged: refund was not called.\n')
    expect(stdout).toMatch(
      /is not met:\n {2}1 run regressed; at most 0 may \(maxRegressed\)\.\n {2}1 run failed or diverged/,
    )
    expect(stdout).not.toContain('Promote')
  })

  it('sends every option', async () => {
    const { run, started } = await trialService()
    const version = '01a2003b-9999-76ff-97ee-7005494d15b8'
    const options = `--from 2026-11-01 --to 2026-11-02T10:00:00Z --tenant acme --corrected
      --tools get_order=live crm=recorded --models recorded --steps live --ignore /a,b/0 /c~1d
      --max-cost 0.5 --concurrency 5 --idempotency-key k`
    await run('trial', 'triage', '--version', version, ...options.split(/\s+/))
    expect(started()).toMatchObject({ path: expect.stringContaining(version), key: 'k' })
    expect(started()?.body).toEqual({
      from: '2026-11-01T00:00:00Z',
      to: '2026-11-02T10:00:00Z',
      tenantId: 'acme',
      feedback: 'corrected',
      tools: { get_order: 'live', crm: 'recorded' },
      models: 'recorded',
      steps: 'live',
      ignore: ['/a,b/0', '/c~1d'],
      maxTrialCostUsd: 0.5,
      maxConcurrency: 5,
    })
    const other = await trialService()
    await other.run('trial', 'triage', '--executions', `${TRIAL_ID},${version}`)
    expect(other.started()?.body).toEqual({ executions: [TRIAL_ID, version] })
  })

  it.each([
    [['--last', '0'], 'an integer from 1 to 1000'],
    [['--tools', 'get_order'], '<name>=recorded or <name>=live'],
    [['--ignore', 'a'], 'JSON Pointer'],
    [['--ignore', ''], 'empty JSON Pointer'],
    [['--corrected', '--rated'], 'cannot be used with'],
  ])('exits with 2 for %j, and starts nothing', async (args, message) => {
    const { run, requests } = await trialService()
    const { code, stderr } = await run('trial', 'triage', ...args)
    expect([code, stderr, requests]).toEqual([2, expect.stringContaining(message), []])
  })

  it('exits with 2 if the service refuses the options', async () => {
    const detail = '/maxTrialCostUsd is required, because the trial calls models.'
    const refusal = { type: 'urn:x', title: 'x', status: 422, code: 'InputSchemaMismatch', detail }
    const { run } = await trialService({ refusal })
    const { code, stderr } = await run('trial', 'triage', '--report', 'refused.md')
    expect(code).toBe(2)
    expect(stderr).toContain(
      'error: Cannot try the version: --max-cost is required, because the trial calls models.\n',
    )
    const asJson = await run('trial', 'triage', '--json')
    expect(asJson.code).toBe(2)
    expect(JSON.parse(asJson.stdout).error.message).toContain('--max-cost is required')
    expect(readdirSync(cli.folder).filter((name) => name.startsWith('refused'))).toEqual([])
  })
})

const polite = (gate: string, bye = '') => ({
  ...greeter('Hello', `execution: { promotion: { require: trial, ${gate} } }`),
  'agent.ts': `export default ({ name }: { name: string }) => ({ said: (name === '${bye}' ? 'Bye ' : 'Hello ') + name })\n`,
})

describe('a release with a trial, as a pipeline makes it', () => {
  it('is refused while the draft changes too much, and made once it does not', async () => {
    const own = await newOrganization()
    const target = ['--url', inject('service'), '--token', own.token]
    const json = (args: string[], code = 0) => cli.json([...args, ...target], { code })
    const publish = (files: Record<string, string>, ...more: string[]) => {
      cli.write(inFolder('polite', files))
      return json(['publish', 'polite', '--no-types', ...more])
    }
    await publish(polite('maxChanged: 0'))
    for (const name of ['Ada', 'Bob', 'Cy']) await own.run('polite', { name })
    const { versionId: faulty } = await publish(polite('maxChanged: 0', 'Bob'), '--draft')
    const failed = await json(['trial', 'polite', '--last', '10', '--report', 'trial.md'], 1)
    expect(failed).toMatchObject({
      trial: { versionId: faulty, lines: 3, verdicts: { SAME: 2, CHANGED: 1 } },
      isMet: false,
      items: [{ differences: [{ path: '/said', original: 'Hello Bob', trial: 'Bye Bob' }] }],
    })
    expect(readFileSync(join(cli.folder, 'trial.md'), 'utf8')).toContain('<code>"Bye Bob"</code>')
    const refused = await json(['promote', 'polite', '--trial', failed.trial.id], 1)
    expect(refused.error).toMatchObject({ code: 'TrialFailed', limits: { maxChanged: 0 } })

    const { versionId: fixed } = await publish(polite('maxChanged: 3'), '--draft')
    const args = ['trial', 'polite', '--last', '10', '--idempotency-key', 'k1']
    const [{ trial }, again] = [await json(args), await json(args)]
    expect(again.trial.id).toBe(trial.id)
    expect(await json(['promote', 'polite', '--trial', trial.id])).toMatchObject({ currentVersionId: fixed })
    expect(await json(['trials', 'cancel', trial.id])).toMatchObject({ status: 'ENDED' })
    expect(await json(['trials', 'delete', trial.id])).toEqual({ id: trial.id, deleted: true })
    const gone = await json(['trials', 'results', trial.id], 1)
    expect(gone.error.message).toContain('no trial with this ID')
  })
})

describe('agents trials', () => {
  it('lists trials, and waits for the results of one', async () => {
    const { run } = await trialService({ trial: aTrial({ SAME: 3, REGRESSED: 1 }) })
    expect((await run('trials')).stdout).toMatch(
      new RegExp(`${TRIAL_ID} +triage +${TRIED_VERSION} +ENDED +4 of 4 +\\$0\\.42 `),
    )
    const { code, stdout } = await run('trials', 'results', TRIAL_ID)
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 REGRESSED.')])
    expect((await run('trials', 'result')).code).toBe(2)
  })
})
