import type { Parameters } from '../run-options.ts'

/** What a sample of code sends. */
export type SampleRequest = {
  /** Where `/v1` begins, without a slash at the end. */
  baseUrl: string
  agent: string
  parameters: Parameters
  /** JSON text, or null if it is too long for a sample, which then reads it from a file. */
  input: string | null
}

/** The file of an input that is too long. */
export const INPUT_FILE = 'input.json'

/** The token is never part of a sample. */
export const TOKEN_VARIABLE = 'AES_TOKEN'

/** The URL that runs the agent. */
export function runUrl({ baseUrl, agent, parameters }: SampleRequest): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${baseUrl}/v1/agents/${encodeURIComponent(agent)}/executions${query.length > 0 ? `?${query.join('&')}` : ''}`
}
