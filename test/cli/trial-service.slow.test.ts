import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
})

const run = (...args: string[]) =>
  cli.run([...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: own.token } })

async function json(args: string[], expected = 0) {
  const { code, stdout, stderr } = await run(...args, '--json')
  if (code !== expected) throw new Error(stdout + stderr)
  return JSON.parse(stdout)
}

/** An agent whose current version wants at most so many changes. `bye`: to whom it says something else. */
const write = (maxChanged: number, bye: string | null) => {
  const files = greeter(
    'Hello',
    `execution: { promotion: { require: trial, maxChanged: ${maxChanged}, maxError: 0 } }`,
  )
  const said =
    bye === null
      ? files['agent.ts']
      : `export default ({ name }: { name: string }) => ({ said: (name === '${bye}' ? 'Bye' : 'Hello') + ' ' + name })\n`
  cli.write(inFolder('polite', { ...files, 'agent.ts': said }))
}

const publish = (...more: string[]) => json(['publish', 'polite', '--no-types', ...more])

describe('a release with a trial, as a pipeline makes it', () => {
  it('is refused while the draft changes too much, and made once it does not', async () => {
    write(0, null)
    const { versionId: first } = await publish()
    const names = ['Ada', 'Bob', 'Cy', 'Di', 'Eve']
    for (const name of names) await own.run('polite', { name })

    write(0, 'Bob')
    const { versionId: faulty } = await publish('--draft')
    const failed = await json(['trial', 'polite', '--last', '10', '--report', 'trial.md'], 1)
    expect(failed).toMatchObject({
      trial: { versionId: faulty, lines: 5, verdicts: { SAME: 4, CHANGED: 1 }, sums: { runs: 5 } },
      gate: { require: 'trial', maxChanged: 0, maxError: 0 },
      isMet: false,
      unmet: ['1 run changed; at most 0 may (maxChanged).'],
      items: [
        { verdict: 'CHANGED', differences: [{ path: '/said', original: 'Hello Bob', trial: 'Bye Bob' }] },
      ],
    })
    expect(readFileSync(join(cli.folder, 'trial.md'), 'utf8')).toContain('<code>"Bye Bob"</code>')
    const refused = await json(['promote', 'polite', '--trial', failed.trial.id], 1)
    expect(refused.error).toMatchObject({ code: 'TrialFailed', limits: { maxChanged: 0 } })

    write(3, null)
    const { versionId: fixed } = await publish('--draft')
    const { code, stdout } = await run('trial', 'polite', '--last', '10')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nSAME +5\n/)])
    const [, trial = ''] = /--trial (\S+)/.exec(stdout) ?? []
    // Of the other draft.
    const mistaken = await json(['promote', 'polite', faulty, '--trial', trial], 1)
    expect(mistaken.error.code).toBe('TrialNotFound')
    expect(await json(['promote', 'polite', '--trial', trial])).toMatchObject({ currentVersionId: fixed })
    expect((await run('trials', '--agent', 'polite')).stdout.match(/ENDED +5 of 5/g)).toHaveLength(2)
    expect((await run('promote', 'polite', first)).code).toBe(0)
  })

  it('finds the trial that a command with the same key has started', async () => {
    const version = (await own.call('GET', '/v1/agents/polite')).json.currentVersionId
    const args = ['trial', 'polite', '--version', version, '--last', '2', '--idempotency-key', 'k1']
    const [one, two] = [await json(args), await json(args)]
    expect(two.trial.id).toBe(one.trial.id)
    expect(await json(['trials', 'results', one.trial.id])).toMatchObject({
      isMet: true,
      trial: { lines: 2 },
    })
    expect(await json(['trials', 'cancel', one.trial.id])).toMatchObject({ status: 'ENDED' })
    expect(await json(['trials', 'delete', one.trial.id])).toEqual({ id: one.trial.id, deleted: true })
    const gone = await run('trials', 'results', one.trial.id)
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('no trial with this ID')])
  })

  it('exits with 2 for what the service refuses, and says what it looked at', async () => {
    const { code, stderr } = await run(
      'trial',
      'polite',
      '--version',
      (await own.call('GET', '/v1/agents/polite')).json.currentVersionId,
      '--corrected',
    )
    expect([code, stderr]).toEqual([2, expect.stringMatching(/without a corrected output: \d/)])
  })
})
