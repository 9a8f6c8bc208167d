import { BODY_ERRORS, managing, type Operation, reading, START_ERRORS, UNREAD } from './operation.ts'

/** The executions of a schedule can be of any tenant. */
const schedule = { family: 'manage-schedules', allTenants: true } as const
const SCHEDULE_PATH = '/v1/agents/{agentId}/schedules/{scheduleName}'

export const scheduleOperations = {
  'list-schedules': {
    ...schedule,
    ...reading,
    path: '/v1/agents/{agentId}/schedules',
    summary: 'List the schedules of an agent',
    query: 'pageParameters',
    responses: { 200: { description: 'Schedules, by name', body: ['Schedule'] } },
    errors: ['AgentNotFound'],
  },
  'put-schedule': {
    ...managing,
    ...schedule,
    method: 'PUT',
    path: SCHEDULE_PATH,
    audit: 'schedule.put',
    summary: 'Create or replace a schedule, which starts executions of an agent',
    body: 'ScheduleBody',
    responses: {
      200: { description: 'The schedule, which existed', body: 'Schedule' },
      201: { description: 'The schedule, which is new', body: 'Schedule' },
    },
    errors: [
      'BadRequest',
      ...BODY_ERRORS,
      'AgentNotFound',
      'VersionNotFound',
      'TooManySchedules',
      'AgentArchived',
      'VersionRetired',
      'InputSchemaMismatch',
    ],
  },
  'get-schedule': {
    ...schedule,
    ...reading,
    path: SCHEDULE_PATH,
    summary: 'Get a schedule, its next times and its last firings',
    responses: { 200: { description: 'The schedule', body: 'Schedule' } },
    errors: ['AgentNotFound', 'ScheduleNotFound'],
  },
  'delete-schedule': {
    ...managing,
    ...schedule,
    method: 'DELETE',
    path: SCHEDULE_PATH,
    audit: 'schedule.delete',
    summary: 'Delete a schedule; its executions stay',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['AgentNotFound', 'ScheduleNotFound'],
  },
  'run-schedule': {
    ...managing,
    ...schedule,
    path: `${SCHEDULE_PATH}/run`,
    audit: 'schedule.run',
    summary: 'Start an execution of a schedule now',
    headers: 'idempotencyHeaders',
    responses: {
      200: { description: `The execution, whose result was cached; ${UNREAD}`, body: 'ChangedExecution' },
      202: { description: `The execution, for polling; ${UNREAD}`, body: 'ChangedExecution' },
    },
    errors: [
      'InvalidHeader',
      'InvalidModelOverride',
      ...START_ERRORS,
      'ScheduleNotFound',
      'ExecutionDeleted',
      'LimitExceeded',
    ],
  },
} as const satisfies Record<string, Operation>
