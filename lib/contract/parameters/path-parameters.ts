import { TENANT_ID } from '../../core/access.ts'
import { SCHEDULE_NAME } from '../../core/schedule.ts'
import { SIGNAL_NAME } from '../../core/wait.ts'

/** A parameter in the path of an operation: what it names, and its form. Requests are not checked against the form. */
type PathParameter = { description: string; form?: 'uuid' | RegExp }

export const PATH_PARAMETERS = {
  agentId: { description: 'The ID (a UUID) or slug of the agent.' },
  versionId: { description: 'The ID of the version.', form: 'uuid' },
  executionId: { description: 'The ID of the execution.', form: 'uuid' },
  otherId: { description: 'The ID of the other execution.', form: 'uuid' },
  name: { description: 'The name of the signal.', form: SIGNAL_NAME },
  mac: { description: 'Proves that the execution has made the URL.' },
  approvalId: { description: 'The ID of the approval.' },
  scheduleName: { description: 'The name of the schedule.', form: SCHEDULE_NAME },
  webhookId: { description: 'The ID of the webhook.' },
  deliveryId: { description: 'The ID of the delivery.' },
  batchId: { description: 'The ID of the batch.', form: 'uuid' },
  trialId: { description: 'The ID of the trial.', form: 'uuid' },
  tenantId: { description: 'The ID of the tenant.', form: TENANT_ID },
  tokenId: { description: 'The ID of the token.', form: 'uuid' },
} as const satisfies Record<string, PathParameter>

export type PathParameters = Record<keyof typeof PATH_PARAMETERS, string>

/** Parameters that the path of an operation lacks are empty. */
export const NO_PARAMETERS = Object.fromEntries(
  Object.keys(PATH_PARAMETERS).map((name) => [name, '']),
) as PathParameters
