import type { DescribeAlarmHistoryCommand } from '@aws-sdk/client-cloudwatch'
import { describe, expect, it } from 'vitest'
import type { Account } from './aws/account.ts'
import { deployWithCdk } from './aws/deploy.ts'
import { listRaisedAlarms } from './aws/figures.ts'
import { findFunction } from './aws/stack-resources.ts'

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
