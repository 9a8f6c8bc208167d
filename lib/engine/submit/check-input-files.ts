import type { Version } from '../../core/agent.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { InputSchemaMismatch, InvalidModelOverride } from '../../core/request-errors.ts'
import { checkFiles, mediaTypesOf } from '../../schema/files/check-files.ts'
import { findFiles } from '../../schema/files/map-files.ts'
import { fileMapperOf } from '../compiled-adapter.ts'

/**
 * Imported on demand.
 * @param model of the call, if it names one
 * @throws InputSchemaMismatch for files that are not valid, InvalidModelOverride for a model that does not accept one
 */
export async function checkInputFiles(version: Version, input: JsonObject, model: string | undefined) {
  const files = findFiles(fileMapperOf(version), input)
  const violations = checkFiles(files)
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  if (model === undefined || files.length === 0) return
  const { checkModel, findMediaProblem } = await import('../../models/check-model.ts')
  const problem = findMediaProblem(checkModel(model, process.env), mediaTypesOf(files))
  if (problem) throw new InvalidModelOverride(problem)
}
