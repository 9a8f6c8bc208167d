import type { Version } from '../../core/agent.ts'
import { describeFile } from '../../core/describe-media.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { escapeName } from '../../core/json/pointer.ts'
import type { InputFile } from '../../core/model.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import { checkFiles } from '../../schema/files/check-files.ts'
import { mayHaveFiles, readFileLimits } from '../../schema/files/file-schema.ts'
import { findFiles } from '../../schema/files/map-files.ts'
import { mapSubschemas } from '../../schema/subschemas.ts'

/** The files of an input, and the input with a description in place of each. */
export async function takeFiles(version: Version, input: JsonObject) {
  const files: InputFile[] = []
  const described = await mapFiles(version, input, (value, path) => {
    if (isJsonObject(value)) files.push({ path, mediaType: `${value.mediaType}`, data: `${value.data}` })
    return describeFile(value)
  })
  return { input: described, files }
}

/** The finder of files is imported only for a version whose input may have some. */
async function mapFiles(version: Version, input: JsonObject, map: (value: Json, path: string) => Json) {
  if (!mayHaveFiles(version.inputSchema)) return input
  const { fileMapperOf } = await import('../compiled-adapter.ts')
  return fileMapperOf(version)(input, ({ value, path }) =>
    map(value, path.map((name) => `/${escapeName(name)}`).join('')),
  )
}

/** The input schema of an agent for the model of a run: in place of a file, it names one of the run's own. */
export function withFileNames(declared: JsonObject, files: readonly InputFile[]): JsonObject {
  if (!mayHaveFiles(declared)) return declared
  return mapSubschemas(toJsonSchema(declared), (part) => {
    const limits = readFileLimits(part)
    if (!limits) return part
    const fitting = files.filter(({ mediaType }) => limits.mediaTypes.includes(mediaType))
    const { description } = part
    return {
      type: 'string',
      description: [...(description === undefined ? [] : [description]), PATH_OF_FILE].join(' '),
      ...(fitting.length > 0 && { enum: fitting.map(({ path }) => path) }),
    }
  })
}

const PATH_OF_FILE = 'The path of a file of the input, such as /document.'

/** The input of a called agent with the files that it names, or why they are not valid. */
export async function passFiles(
  version: Version,
  input: JsonObject,
  files: readonly InputFile[],
): Promise<{ input: JsonObject } | { problem: string }> {
  const passed = await mapFiles(version, input, (value) => {
    const file = files.find(({ path }) => path === value)
    return file ? { mediaType: file.mediaType, data: file.data } : value
  })
  if (passed === input) return { input }
  const { fileMapperOf } = await import('../compiled-adapter.ts')
  const violations = checkFiles(findFiles(fileMapperOf(version), passed))
  if (violations.length === 0) return { input: passed }
  return { problem: `The input is not valid. ${violations.map(({ message }) => message).join(' ')}` }
}
