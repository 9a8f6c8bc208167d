import { type Account, findStack, getOutput, type Identity } from './account.ts'
import { PROOF_TAG } from './proof-stack.ts'

export type Deployed = { baseUrl: string; tableName: string }

/** Runs a command in the project's folder. @throws an Error when it fails */
export type Run = (command: string, args: string[]) => Promise<void>

/** Logs are deleted with the stack; a table that is protected could not be. */
const CONTEXT = ['logRetentionDays=1', 'deletionProtection=false']

type Options = { stack: string; id: string; identity: Identity; context: string[] }

/** Prepares the account for the CDK and deploys the stack with it. */
export async function deployWithCdk(run: Run, { stack, id, identity, context }: Options): Promise<void> {
  await run('npx', ['cdk', 'bootstrap', `aws://${identity.account}/${identity.region}`])
  const settings = [...CONTEXT, ...context, `stackName=${stack}`].flatMap((each) => ['--context', each])
  const options = ['--require-approval', 'never', '--tags', `${PROOF_TAG}=${id}`]
  await run('npx', ['cdk', 'deploy', stack, ...options, ...settings])
}

/** @throws an Error if the stack does not exist, or its deployment did not complete */
export async function readDeployed(account: Account, stack: string): Promise<Deployed> {
  const found = await findStack(account, stack)
  if (!found) throw new Error(`The stack ${stack} does not exist after its deployment.`)
  return { baseUrl: getOutput(found, 'BaseUrl'), tableName: getOutput(found, 'TableName') }
}
