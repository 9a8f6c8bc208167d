import type { Agent } from '../../lib/core/agent.ts'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import { hashJson } from '../../lib/core/json/hash-json.ts'
import { teachersOf } from '../../lib/core/learning.ts'
import { ModelConfigurationError } from '../../lib/core/model.ts'
import { zip } from '../../lib/core/read-pages.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import type { Environment } from '../../lib/environment.ts'
import { getSecretNames } from '../../lib/secret-store.ts'
import { NotRecorded, recordingOf } from '../recording/from-journal.ts'
import { maskCredentials } from '../recording/mask-credentials.ts'
import type { Recording } from '../recording/recording.ts'
import { CaseNames, caseOfExecution } from './add-case.ts'
import type { TestCase } from './case-file.ts'
import { findFailedCalls } from './find-failures.ts'
import { findRecordedAnswers } from './recorded-answers.ts'

/** A case of a corrected execution. `reason`: why it has no recording. */
export type CorrectedCase = {
  executionId: string
  testCase: TestCase
  recording: Recording | null
  reason?: string
}

/** Executions that are searched for corrected ones: a list is read page by page. */
const MAX_SEARCHED = 10_000
const PAGE_SIZE = 100

/** The newest corrected executions of an agent with the feedback that counts, without those of trials. */
export async function findCorrected(
  { executions }: Pick<Stores, 'executions'>,
  { organizationId, id: agentId, current }: Agent,
  limit: number,
): Promise<Execution[]> {
  const corrected: Execution[] = []
  const page = { organizationId, agentId, status: null, tenantId: null, limit: PAGE_SIZE }
  let searched = 0
  for (let after = null; ; ) {
    const { items, next } = await executions.list({ ...page, after })
    const rated = items.filter(isRated)
    const given = { organizationId, ids: rated.map(({ id }) => id), teachers: teachersOf(current ?? {}) }
    for await (const [execution, feedback] of zip(rated, executions.readFeedback(given)))
      if (feedback?.correctedOutput) corrected.push({ ...execution, feedback })
    searched += items.length
    if (!next || corrected.length >= limit || searched >= MAX_SEARCHED) return corrected.slice(0, limit)
    after = next as never
  }
}

const isRated = (execution: Execution): boolean =>
  isFinal(execution) && execution.source !== 'TRIAL' && execution.feedback !== null

type Params = { stores: Stores; environment: Environment; cases: TestCase[] }

/**
 * Cases of corrected executions with what they received from models and tools, without secrets and known cases.
 * `unread`: names of secrets that cannot be read here, so that they are not masked.
 */
export async function toCorrectedCases(
  { stores, environment, cases }: Params,
  executions: Execution[],
): Promise<{ added: CorrectedCase[]; unread: string[] }> {
  const { mask, unread } = await maskCredentials(environment, await findSecretNames(stores, executions))
  const known = new Set(cases.map(identityOf))
  const names = new CaseNames(cases.map(({ name }) => name))
  const added: CorrectedCase[] = []
  for (const execution of executions) {
    const { id, output, error, feedback } = execution
    const [failedCalls, answers] = await Promise.all([
      findFailedCalls(stores.steps, id),
      findRecordedAnswers(stores.steps, id),
    ])
    const testCase = mask(caseOfExecution(execution, { failedCalls, answers }, undefined))
    if (known.has(identityOf(testCase))) continue
    known.add(identityOf(testCase))
    const name = names.add(testCase.name, id)
    const found = await findRecording({ stores, environment, mask }, execution, name)
    const { recording } = found
    const isWrong = hashJson(mask(output)) !== hashJson(mask(feedback?.correctedOutput))
    if (recording && isWrong)
      recording.corrected = output ? { output: mask(output) } : { error: error?.code ?? '' }
    added.push({ executionId: id, testCase: { ...testCase, name }, ...found })
  }
  return { added, unread }
}

/** Of the tools of the versions that ran. */
async function findSecretNames({ agents }: Stores, executions: Execution[]): Promise<string[]> {
  const ids = new Map(executions.map(({ versionId, ...others }) => [versionId, others]))
  const versions = await Promise.all(
    [...ids].map(([id, { organizationId, agentId }]) => agents.getVersion({ organizationId, agentId, id })),
  )
  return versions.flatMap((version) => getSecretNames(JSON.stringify(version?.tools ?? [])))
}

async function findRecording(
  params: Parameters<typeof recordingOf>[0],
  execution: Execution,
  name: string,
): Promise<Pick<CorrectedCase, 'recording' | 'reason'>> {
  try {
    const recording = await recordingOf(params, execution, { case: name, defaultModel: null })
    return { recording: recording.run && recording }
  } catch (error) {
    if (error instanceof NotRecorded || error instanceof ModelConfigurationError)
      return { recording: null, reason: error.message }
    throw error
  }
}

/** Cases with the same input and expectation are the same. */
const identityOf = ({ input, expect }: TestCase): string => hashJson({ input, expect })
