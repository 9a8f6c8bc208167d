import type { Version } from '../core/agent.ts'
import { type Environment, readSetting } from '../environment.ts'

/** The models that a run may use, in order: that of the call, then those of the document. */
export function modelsOf(
  { model, fallbacks = [] }: Pick<Version, 'model' | 'fallbacks'>,
  override: string | null | undefined,
  environment: Environment,
): string[] {
  const own = [model ?? (override ? undefined : readSetting('defaultModel', environment)), ...fallbacks]
  return [...new Set([override, ...own].filter((name) => !!name))] as string[]
}
