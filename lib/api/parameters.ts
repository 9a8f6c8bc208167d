import { isUuid } from '../core/ids.ts'
import { MAX_AGENT_STEPS, PAGE_SIZE } from '../core/limits.ts'
import { flag, oneOf, type Parameter, text, wholeNumber, withDefault } from './parameter.ts'

const tenantId = (description: string) =>
  text(description, /^[^\p{Cc}]{1,128}$/u, 'must have 1 to 128 characters and no control characters')

const versionId: Parameter<string, undefined> = {
  description: 'The version to run instead of the current one.',
  schema: { type: 'string', format: 'uuid' },
  error: 'must be a version id, a UUID',
  read: (id) => (isUuid(id) ? id.toLowerCase() : undefined),
  absent: undefined,
}

/** Of a request that takes no parameters: any is refused, so that a misspelt one is not ignored. */
export const noParameters = {}

export const runParameters = {
  execMode: withDefault(
    oneOf(['sync', 'async'], 'sync answers with the output; async with the execution record, to be polled.'),
    'sync',
  ),
  enforceInputSchema: flag('Refuse input that does not precisely match the input schema.'),
  useCache: flag('Reuse the result of an earlier execution of the same version, tenant and input.'),
  maxAgentSteps: wholeNumber(MAX_AGENT_STEPS, 'The most steps that the execution may take.'),
  version: versionId,
  tenantId: tenantId('The customer that the execution belongs to.'),
  useDynamicLearning: flag('Let similar past executions guide the model.'),
  model: text('A model instead of the version’s own, as {model}[:{reasoning}].'),
}

export const pageParameters = {
  limit: wholeNumber(PAGE_SIZE, 'The most entries that a page may have.'),
  cursor: text('Where the page begins: taken from the `next` link of the page before.'),
}

export const executionPageParameters = {
  ...pageParameters,
  status: oneOf(['IN_PROGRESS', 'SUCCESS', 'ERROR'], 'Only executions in this state.'),
  tenantId: tenantId('Only executions of this tenant.'),
}
