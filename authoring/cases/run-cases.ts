import pLimit from 'p-limit'
import { readSetting } from '../../lib/environment.ts'
import { recordingOf } from '../recording/from-journal.ts'
import { recordSources } from '../recording/record.ts'
import {
  deleteOtherRecordings,
  type Recording,
  readRecording,
  recordingFile,
  writeRecording,
} from '../recording/recording.ts'
import { replaySources } from '../recording/replay.ts'
import { trackExecution } from '../track-execution.ts'
import type { TestCase } from './case-file.ts'
import { findFailures } from './find-failures.ts'
import { type CaseParams, type CaseResult, runCase } from './run-case.ts'

/** `live` calls models and tools; `record` does, and stores what they return; `replay` uses that. */
export type Mode = 'live' | 'record' | 'replay'

export type RunCasesParams = Pick<CaseParams, 'stores' | 'version' | 'model' | 'environment' | 'onLog'> & {
  folder: string
  /** All cases of the agent. */
  cases: TestCase[]
  /** The cases to run. */
  selected: TestCase[]
  mode: Mode
  /** How often each case runs. */
  repeat: number
}

const MAX_PARALLEL_RUNS = 8

/** Runs cases in parallel. Returns the results in the order of the cases, with the runs of one case side by side. */
export async function runCases(params: RunCasesParams): Promise<CaseResult[]> {
  const { folder, cases, selected, mode, repeat } = params
  const limit = pLimit(MAX_PARALLEL_RUNS)
  const run = { live: runCase, record, replay }[mode]
  const names = cases.map(({ name }) => name)
  const runs = selected.flatMap((testCase) => Array.from({ length: repeat }, () => testCase))
  const results = await Promise.all(
    runs.map((testCase) =>
      limit(() => run({ ...params, testCase }, recordingFile(folder, testCase.name, names))),
    ),
  )
  if (mode === 'record') await deleteOtherRecordings(folder, names)
  return results
}

/** A run that fails is not recorded; the recording of an earlier one is kept. */
async function record(params: CaseParams, file: string): Promise<CaseResult> {
  const { result, recording } = await recordCase(params)
  if (result.failures.length === 0 && recording && (recording.run || recording.scorers))
    await writeRecording(file, recording)
  return result
}

/** Runs a case. Its recording is null if it did not begin. */
export async function recordCase(
  params: CaseParams,
): Promise<{ result: CaseResult; recording: Recording | null }> {
  const { testCase, version, environment } = params
  const { organizationId } = version
  const { stores, getId } = trackExecution(params.stores, organizationId)
  const { sources, getErrors } = recordSources(environment)
  const scorers: Record<string, Recording> = {}
  const runScorer = async (scorer: CaseParams) => {
    const { result, recording } = await recordCase(scorer)
    if (recording?.run) scorers[scorer.version.slug] = recording
    return result
  }
  const result = await runCase({ ...params, stores, sources, runScorer })
  const id = getId()
  const execution = id && (await stores.executions.get({ organizationId, id }))
  if (!execution) return { result, recording: null }
  const origin = { case: testCase.name, defaultModel: readSetting('defaultModel', environment) ?? null }
  const given = { stores, environment, mask: <T>(value: T) => value, errors: getErrors() }
  const recording = await recordingOf(given, execution, origin)
  return { result, recording: Object.keys(scorers).length > 0 ? { ...recording, scorers } : recording }
}

async function replay(params: CaseParams, file: string): Promise<CaseResult> {
  return replayCase(params, await readRecording(file))
}

/** A run that ends as the execution did that was corrected passes: nothing has changed for the worse. */
export async function replayCase(params: CaseParams, recording: Recording | null): Promise<CaseResult> {
  const { model = null, corrected } = recording ?? {}
  const misses: string[] = []
  const result = await runCase({
    ...params,
    model: params.model ?? model,
    sources: replaySources(recording, (message) => misses.push(message)),
    findDefects: () => misses.slice(0, 1),
    runScorer: (scorer) => replayCase(scorer, recording?.scorers?.[scorer.version.slug] ?? null),
  })
  const { failures } = result
  const isRepeated = corrected && misses.length === 0 && failures.length > 0
  if (!isRepeated || !endsAs(corrected, params.testCase, result)) return result
  return { ...result, failures: [], notYetCorrected: failures }
}

/** Whether a run fails its case only because it ends like the execution that was corrected. */
function endsAs(
  corrected: NonNullable<Recording['corrected']>,
  { expect }: TestCase,
  result: CaseResult,
): boolean {
  const { equals: _, matches: __, pointers: ___, error: ____, ...others } = expect
  const ending = 'error' in corrected ? corrected : { equals: corrected.output }
  const isOnlyReason = findFailures(expect, result).length === result.failures.length
  return isOnlyReason && findFailures({ ...others, ...ending }, result).length === 0
}
