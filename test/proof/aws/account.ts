import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation'
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SQSClient } from '@aws-sdk/client-sqs'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'

/** The clients of an account, as the environment or the profile determines it. */
export function openAccount() {
  return {
    cloudFormation: new CloudFormationClient(),
    cloudWatch: new CloudWatchClient(),
    dynamodb: new DynamoDBClient(),
    lambda: new LambdaClient(),
    // The URLs that CloudFormation returns have the host of AWS, also in an emulator.
    sqs: new SQSClient({ useQueueUrlAsEndpoint: false }),
    sts: new STSClient(),
  }
}

export type Account = ReturnType<typeof openAccount>

export type Identity = { account: string; region: string }

export async function identify({ sts }: Pick<Account, 'sts'>): Promise<Identity> {
  const { Account: account = '' } = await sts.send(new GetCallerIdentityCommand())
  return { account, region: await sts.config.region() }
}

/** Null if there is no stack of this name. */
export async function findStack(
  { cloudFormation }: Pick<Account, 'cloudFormation'>,
  StackName: string,
): Promise<Stack | null> {
  try {
    const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }))
    return Stacks[0] ?? null
  } catch (error) {
    if (/does not exist/.test((error as Error).message)) return null
    throw error
  }
}

/** @throws an Error if the stack has no such output */
export function getOutput({ StackName, Outputs = [] }: Stack, name: string): string {
  const value = Outputs.find(({ OutputKey }) => OutputKey === name)?.OutputValue
  if (!value) throw new Error(`The stack ${StackName} has no output ${name}.`)
  return value
}
