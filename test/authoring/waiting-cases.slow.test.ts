import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseCases } from '../../authoring/cases/case-file.ts'
import { inFolder, newCli } from '../cli/cli.ts'

const cli = newCli()
afterAll(cli.remove)

const DOCUMENT = `---
title: Waits
description: Waits as its input says.
code: true
input: { does: { type: string, enum: [refund, race, pay, forever, escalate, retry, delegate] } }
output: { got: { type: string, description: JSON. } }
---
`

/** \`late\`: days that a run without answers takes. */
const CODE = `
const DAY = 86_400
const ask = (context, name) => context.waitForApproval(name, { title: 'Refund?', data: { usd: 200 } })
const RUNS = {
  refund: async (context) => {
    await context.sleep('cooling off', 20 * DAY)
    const { decision, data, note } = await ask(context, 'refund')
    return [decision, data, note]
  },
  race: async (context) =>
    Promise.race([context.sleep('reminder', DAY).then(() => 'late'), ask(context, 'refund').then((a) => a.decision)]).then((a) => [a]),
  pay: async (context) => {
    const got = []
    for (let i = 1; i <= 3; i++)
      got.push(await context.waitForAny('payment ' + i, { signals: ['paid', 'cancelled'], timeoutSeconds: DAY }))
    return got
  },
  forever: async (context) => [await context.waitForSignal('paid')],
  retry: async (context) => [
    await context.step('charge', { retries: 5, backoff: 100 }, ({ attempt }) => {
      if (attempt < 4) throw new Error('not yet')
      return attempt
    }),
  ],
  delegate: async (context) => [(await context.run('ask', 'beside', { name: 'Ann' })).hello],
  escalate: async (context) => {
    const first = await ask(context, 'first')
    return [first.decision, first.decision === 'timeout' ? (await ask(context, 'second')).decision : null]
  },
}
export default async ({ does }, context) => ({ got: JSON.stringify(await RUNS[does](context)) })
`

beforeAll(() => cli.write(inFolder('waits', { 'agent.md': DOCUMENT, 'agent.ts': CODE })))

/** The results of the cases, which are lines of YAML without their name. */
async function test(...cases: string[]) {
  cli.write({ 'waits/cases.yaml': cases.map((text, index) => `- { name: c${index}, ${text} }\n`).join('') })
  const outcome = await cli.run(['test', 'waits', '--no-types', '--json'])
  const report = JSON.parse(outcome.stdout)
  return report.cases
    ? report.cases.map(({ runs: [run] }: { runs: { failures: { message: string }[]; output: object }[] }) => [
        run?.output,
        ...(run?.failures ?? []).map(({ message }) => message),
      ])
    : report.error.problems.map(
        (problem: { field: string; message: string }) => `${problem.field}: ${problem.message}`,
      )
}

const got = (...values: unknown[]) => ({ got: JSON.stringify(values) })

describe('cases of a run that waits', () => {
  it('pass the time between attempts at a step', async () => {
    expect(await test('input: { does: retry }')).toEqual([[got(4)]])
  })

  it('run the agents beside it that its code names', async () => {
    const document = DOCUMENT.replace(/input: .*/, 'input: { name: { type: string } }').replace(
      'got:',
      'hello:',
    )
    const code =
      'export default async ({ name }, context) => { await context.sleep("nap", 60); return { hello: name } }'
    cli.write(inFolder('beside', { 'agent.md': document, 'agent.ts': code }))
    expect(await test('input: { does: delegate }')).toEqual([[got('Ann')]])
  })

  it('decide approvals, without time passing', async () => {
    const input = 'input: { does: refund }'
    expect(
      await test(
        `${input}, approvals: { refund: { decision: reject, note: too much } }`,
        `${input}, approvals: { refund: [{ decision: approve, input: { usd: 5 } }] }`,
        `${input}, approvals: { refund: timeout }`,
        'input: { does: escalate }, approvals: { first: timeout, second: [approve] }',
        'input: { does: race }, approvals: { refund: timeout }',
      ),
    ).toEqual([
      [got('reject', { usd: 200 }, 'too much')],
      [got('approve', { usd: 5 }, null)],
      [got('timeout', { usd: 200 }, null)],
      [got('timeout', 'approve')],
      [got('late')],
    ])
  })

  it('send signals in order; a wait that gets none times out', async () => {
    const input = 'input: { does: pay }'
    expect(
      await test(
        `${input}, signals: { paid: [1, { usd: 2 }], cancelled: [null] }`,
        `${input}, signals: { cancelled: [a], paid: [b] }`,
        input,
        'input: { does: forever }, signals: { paid: [yes] }',
      ),
    ).toEqual([
      [
        got(
          { signal: 'paid', data: 1 },
          { signal: 'paid', data: { usd: 2 } },
          { signal: 'cancelled', data: null },
        ),
      ],
      [got({ signal: 'cancelled', data: 'a' }, { signal: 'paid', data: 'b' }, null)],
      [got(null, null, null)],
      [got('yes')],
    ])
  })

  it('fail with the key that is missing, and with those that nothing needed', async () => {
    expect(
      await test(
        'input: { does: refund }',
        'input: { does: refund }, approvals: { refund: [] }',
        'input: { does: forever }',
        'input: { does: pay }, signals: { paid: [1, 2, 3, 4] }, approvals: { refund: approve }',
        'input: { does: refund }, approvals: { refund: [approve, reject] }, signals: { paid: [1] }',
      ),
    ).toEqual([
      [null, 'the run waits for the approval "refund": add approvals: { "refund": approve } to the case'],
      [null, 'the run waits for the approval "refund" once more: approvals has 0 decisions for it'],
      [
        null,
        'the run waits for the signal paid, without a timeout: add signals: { paid: [null] } to the case',
      ],
      [
        expect.anything(),
        'the run did not wait for the approval "refund" (approvals)',
        'the run waited only 3 times for the signal "paid" (signals)',
      ],
      [
        expect.anything(),
        'the run waited only once for the approval "refund" (approvals)',
        'the run did not wait for the signal "paid" (signals)',
      ],
    ])
  })

  it('fail if the run never stops waiting', async () => {
    const code = "for (let i = 0; ; i++) await context.sleep('s' + i, 60)"
    cli.write(
      inFolder('polls', {
        'agent.md': DOCUMENT,
        'agent.ts': `export default async (_, context) => { ${code} }`,
      }),
    )
    cli.write({ 'polls/cases.yaml': '- { name: polls, input: { does: pay } }\n' })
    const { stdout } = await cli.run(['test', 'polls', '--no-types'])
    expect(stdout).toMatch(/the run failed with AgentFailed: The run was suspended more than 100 times\./)
  })
})

describe('parseCases', () => {
  it.each([
    [
      'approvals: { refund: aprove }',
      'approvals.refund: must be one of approve, reject, timeout, not "aprove"; did you mean "approve"?',
    ],
    [
      'approvals: { refund: { descision: approve } }',
      'approvals.refund.descision: unknown field; did you mean "decision"?',
    ],
    [
      'approvals: { refund: [approve, { decision: no }] }',
      'approvals.refund.1.decision: must be one of approve, reject, timeout, not "no"',
    ],
    ['signals: { paid: 1 }', 'signals.paid: must be an array, not 1'],
  ])('explains %s', (text, problem) => {
    const { problems } = parseCases(`- { name: a, input: {}, ${text} }\n`, 'cases.yaml')
    expect(problems.map(({ field, message }) => `${field}: ${message}`)).toContain(`"a".${problem}`)
  })
})
