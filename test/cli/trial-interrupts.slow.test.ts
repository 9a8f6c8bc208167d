import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { type Answer, hang, json, SOON, scriptedService } from '../clients/typescript/scripted-service.ts'
import { aTrial, TRIAL_ID, TRIED_VERSION } from '../support/a-trial.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const agent = json(200, {
  id: TRIED_VERSION,
  slug: 'triage',
  currentVersionId: null,
  draftVersionId: TRIED_VERSION,
})
const created = json(202, { id: TRIAL_ID, status: 'IN_PROGRESS' })
const running = json(200, { ...aTrial({ SAME: 1 }), status: 'IN_PROGRESS', sums: null })

async function interrupt(answers: Answer[]) {
  const { baseUrl, requests } = await scriptedService(answers)
  const args = ['trial', 'triage', '--max-cost', '2', '--report', 'trial.md', '--url', baseUrl]
  const command = cli.start(args, { environment: { AGENTS_TOKEN: 'aes_secret' } })
  await expect.poll(() => requests.length, SOON).toBe(answers.length)
  command.kill('SIGINT')
  return { ...(await command.ended), baseUrl, requests }
}

describe('Ctrl-C', () => {
  it('leaves the trial running, without a report, and says how to come back', async () => {
    const { code, stdout, stderr, baseUrl } = await interrupt([agent, created, running, hang])
    expect([code, stdout, readdirSync(cli.folder).filter((name) => name.startsWith('trial'))]).toEqual([
      130,
      '',
      [],
    ])
    expect(stderr).toBe(
      [
        'Stopped waiting.',
        `Results: npm run agents -- trials results ${TRIAL_ID} --report trial.md --url ${baseUrl}`,
        `Cancel: npm run agents -- trials cancel ${TRIAL_ID} --url ${baseUrl}`,
        '',
      ].join('\n'),
    )
  })

  it('while it is not known whether the trial has started tells how to find it', async () => {
    const { code, stderr, requests } = await interrupt([agent, hang])
    expect(code).toBe(130)
    expect(stderr).toContain(`--idempotency-key ${requests[1]?.headers['idempotency-key']}\n`)
    expect(stderr).not.toContain('aes_secret')
  })
})
