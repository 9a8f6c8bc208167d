/** What the service prints for its user. */
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { DRAIN_MS } from './gateway/listen.ts'
import { AGENTS, type PublishResult } from './publish-folder.ts'

export function describePublished(result: PublishResult): string {
  if ('slug' in result) return `agent ${result.slug}${result.isNew ? ', published' : ''}`
  const folder = relative(process.cwd(), result.folder)
  return [`warning: ${folder} is not published. Its last published version stays.`, ...result.problems].join(
    '\n  ',
  )
}

export const CONNECT_A_MODEL = `
Model agents need a model. To connect one, start again with one of these lines in front, or export it:
  AWS_REGION=us-east-1 DEFAULT_MODEL=bedrock/us.amazon.nova-lite-v1:0     (with credentials of AWS)
  OPENAI_API_KEY=… DEFAULT_MODEL=openai/gpt-5-mini
  ANTHROPIC_API_KEY=… DEFAULT_MODEL=anthropic/claude-sonnet-4-5
  OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:11434/v1 DEFAULT_MODEL=openai-compatible/qwen3:8b     (Ollama)`

/** A command that runs an agent: the first one, with the input of its first case. */
export async function firstSteps(published: PublishResult[], url: string, token: string): Promise<string> {
  const agent = published.find((result) => 'slug' in result)
  if (!agent) return 'There are no agents in this folder yet. Create one: npx agent-execution init hello'
  const { parse } = await import('yaml')
  const cases = await readFile(join(AGENTS, agent.slug, 'cases.yaml'), 'utf8')
    .then(parse)
    .catch(() => null)
  const input = JSON.stringify(cases?.[0]?.input ?? {}).replaceAll("'", "'\\''")
  return [
    `Try it:\ncurl -sS ${url}/v1/agents/${agent.slug}/executions`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${input}'`,
  ].join(' ')
}

const PRINT_MS = 50

/** Lines of requests, a moment later: a write for each of them would be a part of the time of a run. */
export function printTogether(print: (line: string) => void) {
  let lines: string[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length > 0) print(lines.join('\n'))
    lines = []
  }
  return {
    add(line: string): void {
      lines.push(line)
      timer ??= setTimeout(flush, PRINT_MS)
    },
    flush,
  }
}

export const MAX_SHOWN_RUNS = 100

export function describeStop(requests: number, runs: number): string {
  const parts: string[] = []
  if (requests > 0) parts.push(`${requests} request${requests > 1 ? 's' : ''}`)
  if (runs > 0) parts.push(`${runs < MAX_SHOWN_RUNS ? runs : `${runs} or more`} run${runs > 1 ? 's' : ''}`)
  if (parts.length === 0) return 'Stopping.'
  return [
    `Stopping: waiting up to ${DRAIN_MS / 1_000} s for ${parts.join(' and ')} in progress.`,
    'Runs that have not ended by then continue at the next start. Ctrl-C again stops at once.',
  ].join(' ')
}
