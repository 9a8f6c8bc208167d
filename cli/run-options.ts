import type { CliCommand } from './command.ts'
import { modelOption, parseAs, parseUuid } from './options.ts'

/** Options of commands that start runs. */
export type RunOptions = {
  version?: string
  tenant?: string
  model?: string
  steps?: number
  maxTokens?: number
  maxCost?: number
  cache?: boolean
  strict?: boolean
}

export const addRunOptions = (command: CliCommand): CliCommand =>
  command
    .option(
      '--version <id>',
      'version to run, for example a draft, instead of the current one; needs -- before the command, or npm prints its own',
      parseUuid,
    )
    .option('--tenant <id>', 'tenant that the execution belongs to', parseAs('tenantId'))
    .addOption(modelOption('version'))
    .option('--steps <number>', 'maximum number of steps', parseAs('maxAgentSteps'))
    .option('--max-tokens <number>', 'maximum input and output tokens', parseAs('maxTokens'))
    .option(
      '--max-cost <dollars>',
      'maximum cost of the model responses in US dollars',
      parseAs('maxCostUsd'),
    )
    .option('--cache', 'reuse the result of an earlier execution with the same version, tenant and input')
    .option('--no-cache', 'run even if the version reuses results')
    .option('--strict', 'reject input that does not match the input schema exactly')
    .option('--no-strict', 'adapt such input even if the version rejects it')

/** Those that schedules keep, too: without the version and the tenant. */
export const toRunParameters = ({ strict, model, steps, maxTokens, maxCost, cache }: RunOptions) => ({
  enforceInputSchema: strict,
  model,
  maxAgentSteps: steps,
  maxTokens,
  maxCostUsd: maxCost,
  useCache: cache,
})
