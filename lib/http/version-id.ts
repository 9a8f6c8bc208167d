import { VersionNotFound } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'

/** The id of a version in a path. @throws VersionNotFound if the text is not a UUID */
export function toVersionId({ versionId }: { versionId: string }): string {
  if (!isUuid(versionId)) throw new VersionNotFound()
  return versionId.toLowerCase()
}
