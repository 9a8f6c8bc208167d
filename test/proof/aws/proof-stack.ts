import { randomUUID } from 'node:crypto'
import { DeleteStackCommand, waitUntilStackDeleteComplete } from '@aws-sdk/client-cloudformation'
import type { Findings } from '../run-proof.ts'
import type { ProofState, StateFile } from '../state-file.ts'
import { type Account, findStack, type Identity } from './account.ts'
import { deletionCommand, findRetained } from './stack-resources.ts'

/** The tag of a stack that a proof has deployed; its value is the id of the proof. */
export const PROOF_TAG = 'agent-execution-service:proof'

const MAX_DELETION_SECONDS = 3_600

/**
 * Records that a proof is about to deploy a stack.
 * @throws an Error if the stack exists, or if an earlier proof of it was not destroyed
 */
export async function claimStack(
  account: Account,
  { stack, identity, file }: { stack: string; identity: Identity; file: StateFile },
): Promise<ProofState> {
  if (file.read())
    throw new Error(`An earlier proof left ${stack} behind: npm run proof -- --stack ${stack} --destroy`)
  if (await findStack(account, stack))
    throw new Error(
      `The stack ${stack} exists. A proof deploys its own stack and destroys it: choose another name.`,
    )
  const state = { id: randomUUID(), stack, ...identity, startedAt: new Date().toISOString() }
  file.create(state)
  return state
}

/**
 * Deletes the stack that a proof has deployed, and names what remains in the account.
 * @throws an Error if the stack is not the one of the proof, or if CloudFormation cannot delete it
 */
export async function destroyStack(
  account: Account,
  { state, identity, file }: { state: ProofState; identity: Identity; file: StateFile },
): Promise<Findings> {
  const { stack } = state
  if (state.account !== identity.account || state.region !== identity.region)
    throw new Error(
      `${stack} is in ${state.region} of account ${state.account}, not in ${identity.region} of ${identity.account}.`,
    )
  const found = await findStack(account, stack)
  if (!found) {
    file.remove()
    return { figures: { 'left in the account': 'nothing: the stack does not exist' } }
  }
  const tag = found.Tags?.find(({ Key }) => Key === PROOF_TAG)?.Value
  if (tag !== state.id)
    throw new Error(
      `The stack ${stack} was not deployed by this proof: its tag ${PROOF_TAG} is ${tag ?? 'missing'}. Delete it yourself, and ${file.path}.`,
    )
  const retained = await findRetained(account, stack)
  const { cloudFormation } = account
  await cloudFormation.send(new DeleteStackCommand({ StackName: stack }))
  await waitUntilStackDeleteComplete(
    { client: cloudFormation, maxWaitTime: MAX_DELETION_SECONDS },
    { StackName: found.StackId },
  )
  file.remove()
  const commands = retained.map(deletionCommand)
  return {
    figures: {
      'left in the account': [...commands, 'the bootstrap stack of the CDK (CDKToolkit) and its assets'].join(
        '; ',
      ),
    },
  }
}
