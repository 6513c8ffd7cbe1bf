/** Name of a tenant; it is also the name of its folder. */
export const tenantPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
