import type { FiringMessage } from '../../core/ports.ts'

/** Starts the execution of a schedule that is due. */
export async function fireSchedule(_engine: unknown, _message: FiringMessage): Promise<void> {}
