import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Template } from '../../../local/sam-template.ts'
import { PROOF_TAG } from '../../proof/aws/proof-stack.ts'
import { runCommand } from '../../support/processes/processes.ts'
import { ACCOUNT, REGION } from '../emulators/start-server.ts'
import { addApiMethod, createAliases, removeAliases } from './aliases.ts'

export const STACK = 'AgentExecutionService'
/** Of the proof that destroys the stack. */
export const PROOF_ID = '4f1c7d3e-proof-in-moto'

/**
 * Synthesizes the stack into a folder and deploys it to moto with the CDK, bootstrapped like an account.
 * @param environment of moto
 */
export async function deployStack(folder: string, environment: Record<string, string>): Promise<void> {
  const output = join(folder, 'cdk.out')
  // Moto does not know the attributes of alarms that the dashboard refers to.
  await cdk([
    'synth',
    '--quiet',
    '--context',
    'monitoring=false',
    '--context',
    'httpPublishing=true',
    '--output',
    output,
  ])
  const file = join(output, `${STACK}.template.json`)
  const template = JSON.parse(await readFile(file, 'utf8')) as Template
  addApiMethod(template)
  const aliases = removeAliases(template)
  await writeFile(file, JSON.stringify(template))

  const home = join(folder, 'cdk-home')
  await mkdir(home)
  const environmentOfCdk = { ...environment, CDK_HOME: home }
  await cdk(['bootstrap', `aws://${ACCOUNT}/${REGION}`, '--app', output], environmentOfCdk)
  // Moto creates a change set's resources in no particular order, and a deployment of the API needs a method.
  const options = ['--method', 'direct', '--require-approval', 'never', '--asset-parallelism', 'false']
  const tags = ['--tags', `${PROOF_TAG}=${PROOF_ID}`]
  await cdk(['deploy', '--quiet', '--app', output, ...options, ...tags], environmentOfCdk)
  await createAliases(STACK, aliases, environment)
}

const cdk = (args: string[], environment: Record<string, string> = {}) =>
  runCommand('npx', ['cdk', ...args], environment)
