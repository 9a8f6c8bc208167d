import type { DescribeAlarmHistoryCommand } from '@aws-sdk/client-cloudwatch'
import { describe, expect, it } from 'vitest'
import type { Account } from './aws/account.ts'
import { deployWithCdk } from './aws/deploy.ts'
import { type Disturbance, disturb } from './aws/disturbances.ts'
import { listRaisedAlarms } from './aws/figures.ts'
import { findFunction } from './aws/stack-resources.ts'
import { formatHtml } from './report.ts'
import { type Findings, type ProofPlan, runProof } from './run-proof.ts'

/** A plan that records its steps, with some replaced. */
function aPlan(changes: Partial<ProofPlan<string>> = {}) {
  const done: string[] = []
  const record =
    (step: string, findings: Findings = {}) =>
    async () => {
      done.push(step)
      return findings
    }
  const plan: ProofPlan<string> = {
    deploy: async () => {
      done.push('deploy')
      return 'service'
    },
    checks: {
      smoke: record('smoke'),
      load: record('load', { figures: { runs: 3 } }),
      figures: record('figures'),
    },
    destroy: record('destroy'),
    keep: false,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...changes,
  }
  return { plan, done, record }
}

const fail = (message: string) => async () => {
  throw new Error(message)
}

describe('runProof', () => {
  it('deploys, checks and destroys', async () => {
    const { plan, done } = aPlan()
    const { passed, steps } = await runProof(plan)
    expect([passed, done]).toEqual([true, ['deploy', 'smoke', 'load', 'figures', 'destroy']])
    expect(steps.map(({ step, figures }) => [step, figures])).toContainEqual(['load', { runs: 3 }])
  })

  it('destroys what a failed deployment left, without checks', async () => {
    const { plan, done } = aPlan({ deploy: fail('rolled back') })
    const { passed, steps } = await runProof(plan)
    expect([passed, done]).toEqual([false, ['destroy']])
    expect(steps[0]).toMatchObject({ step: 'deploy', problems: ['rolled back'] })
  })

  it('continues after a check that fails or finds a problem, and destroys', async () => {
    const { plan, done, record } = aPlan()
    const lost = { problems: ['proof-1 is lost.'] }
    plan.checks = { smoke: fail('unreachable'), load: record('load', lost), figures: record('figures') }
    const { passed, steps } = await runProof(plan)
    expect([passed, done]).toEqual([false, ['deploy', 'load', 'figures', 'destroy']])
    expect(steps.flatMap(({ problems }) => problems)).toEqual(['unreachable', 'proof-1 is lost.'])
  })

  it.each(['deploy', 'smoke', 'load', 'figures'])(
    'destroys when it is stopped during %s, without further checks',
    async (step) => {
      const stopping = new AbortController()
      const { plan, done } = aPlan({ signal: stopping.signal })
      const { deploy, checks } = plan
      plan.deploy = async () => {
        if (step === 'deploy') stopping.abort()
        return deploy()
      }
      plan.checks = Object.fromEntries(
        Object.entries(checks).map(([name, check]) => [
          name,
          async (service, signal) => {
            if (name === step) stopping.abort()
            return check(service, signal)
          },
        ]),
      )
      const { passed, steps } = await runProof(plan)
      const all = ['deploy', 'smoke', 'load', 'figures']
      expect(done).toEqual([...all.slice(0, all.indexOf(step) + 1), 'destroy'])
      expect([passed, steps.at(-1)?.step]).toEqual([false, 'interrupted'])
    },
  )

  it('reports as a page what held, what did not, and what was expected, with nothing of it as markup', async () => {
    const { plan, record } = aPlan()
    plan.checks = {
      smoke: record('smoke', { problems: ['<script>alert(1)</script>'] }),
      figures: record('figures', { figures: { 'slowest minute, reads p99 (ms)': 31, 'a & b': '"x"' } }),
    }
    const page = formatHtml(await runProof(plan), { stack: '<proof>' })
    expect(page).toContain('<h1 dir="auto">Proof: FAILED</h1>')
    expect(page).toContain('<h2 class="failed">smoke: FAILED (0 s)</h2>')
    expect(page.replaceAll(/<td[^>]*>|\n/g, '|')).toContain(
      '|slowest minute, reads p99 (ms)</td>||31</td>||10 to 50</td>',
    )
    expect(page).not.toMatch(/<script|<proof>|a & b|"x"/)
  })

  it('leaves the service in place if asked to', async () => {
    const { plan, done } = aPlan({ keep: true })
    expect((await runProof(plan)).passed).toBe(true)
    expect(done).not.toContain('destroy')
  })
})

describe('disturb', () => {
  const aDisturbance = (
    name: string,
    log: string[],
    end = async () => void log.push(`end of ${name}`),
  ): Disturbance => ({
    name,
    start: async () => {
      log.push(name)
      return end
    },
  })
  const options = { durationMs: 10, signal: new AbortController().signal, onProgress: () => undefined }

  it('reports those that fail, and continues', async () => {
    const log: string[] = []
    const failing = { name: 'a', start: fail('denied') }
    const stuck = aDisturbance('b', log, fail('stuck'))
    expect(await disturb([failing, stuck, aDisturbance('c', log)], options)).toEqual([
      '"a" failed: denied',
      '"b" failed: stuck',
    ])
    expect(log).toEqual(['b', 'c', 'end of c'])
  })

  it('ends the one that is active when it is stopped, and starts no other', async () => {
    const log: string[] = []
    const stopping = new AbortController()
    const first = aDisturbance('a', log)
    const start = async () => {
      stopping.abort()
      return first.start()
    }
    const other = aDisturbance('b', log)
    await disturb([{ name: 'a', start }, other], { ...options, durationMs: 100, signal: stopping.signal })
    expect(log).toEqual(['a', 'end of a'])
  })
})

describe('deployWithCdk', () => {
  const identity = { account: '123456789012', region: 'eu-west-1' }

  it('bootstraps the region and deploys the stack with the tag of the proof and the settings', async () => {
    const commands: string[] = []
    const run = async (command: string, args: string[]) => void commands.push([command, ...args].join(' '))
    const context = ['kms=true', 'monitoring=false']
    await deployWithCdk(run, { stack: 'proof-1', id: 'abc', identity, context })
    expect(commands).toEqual([
      'npx cdk bootstrap aws://123456789012/eu-west-1',
      'npx cdk deploy proof-1 --require-approval never --tags agent-execution-service:proof=abc --context logRetentionDays=1 --context deletionProtection=false --context kms=true --context monitoring=false --context stackName=proof-1',
    ])
  })

  it('does not deploy to a region that it cannot bootstrap', async () => {
    const run = async (_: string, [, command]: string[]) => {
      if (command === 'bootstrap') throw new Error('denied')
      throw new Error('deployed')
    }
    const options = { stack: 'proof-1', id: 'abc', identity, context: [] }
    await expect(deployWithCdk(run, options)).rejects.toThrow('denied')
  })
})

describe('listRaisedAlarms', () => {
  it('names the alarms of the stack that were raised, once', async () => {
    const item = (AlarmName: string, state: string) => ({
      AlarmName,
      HistorySummary: `Alarm updated from OK to ${state}`,
    })
    const send = async (_: DescribeAlarmHistoryCommand) => ({
      AlarmHistoryItems: [
        item('proof-StartDelay', 'ALARM'),
        item('proof-ServerErrorRate', 'ALARM'),
        item('proof-StartDelay', 'ALARM'),
        item('proof-QueueAge', 'OK'),
        item('other-QueueAge', 'ALARM'),
      ],
    })
    const account = { cloudWatch: { send } } as unknown as Pick<Account, 'cloudWatch'>
    expect(await listRaisedAlarms(account, 'proof', new Date())).toEqual(['ServerErrorRate', 'StartDelay'])
  })
})

describe('the resources of a stack', () => {
  const type = 'AWS::Lambda::Function'
  const runner = { logicalId: 'ProcessExecutionFunction0A1B2C3D', type, id: 'runner' }

  it('are found by the name of the function', () => {
    const version = { logicalId: 'ProcessExecutionFunctionCurrentVersion0A1B2C3D', type, id: 'version' }
    expect(findFunction([runner, version], 'process-execution')).toBe('runner')
  })
})
